#include <signet/cli/arguments.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <signet/json/text.h>
#include <signet/json/utf8.h>

namespace signet::cli {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool looks_like_json(std::string_view word) {
  return !word.empty() &&
         (std::string_view("{[@").find(word.front()) != std::string_view::npos || word == "-");
}

std::string_view option_name(std::string_view word) { return word.substr(0, word.find('=')); }

// How many words at the end of `words` are options of ours and assignments.
std::size_t own_tail(const std::vector<std::string>& words, const OptionNames& ours) {
  std::size_t end = words.size();
  while (end > 0) {
    const std::string& last = words[end - 1];
    const bool inline_value = last.starts_with("--") && last.find('=') != std::string::npos &&
                              contains(ours.values, option_name(last));
    if (is_assignment(last) || contains(ours.flags, last) || inline_value) {
      // `--answer name=Ada`: the value looks like an assignment, and belongs to the option before it.
      --end;
      if (end > 0 && is_assignment(last) && contains(ours.values, words[end - 1])) --end;
    } else if (end > 1 && (contains(ours.values, words[end - 2]) ||
                           (words[end - 2] == "--json" && looks_like_json(last)))) {
      end -= 2;
    } else {
      break;
    }
  }
  return words.size() - end;
}

// The type a schema gives a property: the first of several that is not null.
std::string type_of(const Json& schema, std::string_view property) {
  const Json* properties = schema.find("properties");
  const Json* found = properties != nullptr ? properties->find(property) : nullptr;
  const Json* type = found != nullptr ? found->find("type") : nullptr;
  if (type == nullptr) return {};
  if (type->is_string()) return *type->as_string();
  if (!type->is_array()) return {};
  for (const Json& one : *type->as_array()) {
    if (one.is_string() && *one.as_string() != "null") return *one.as_string();
  }
  return {};
}

Result<Json> typed(const std::string& key, const std::string& text, const std::string& type) {
  if (type.empty() || type == "string") return Json(text);
  const Result<Json, json::ParseError> value = json::parse(text);
  const bool fits =
      value && ((type == "boolean" && value->is_boolean()) || (type == "integer" && value->is_integer()) ||
                (type == "number" && value->is_number()) || (type == "object" && value->is_object()) ||
                (type == "array" && value->is_array()));
  if (fits) return *value;
  if (type == "array") return Json::array({Json(text)});
  return failure(key + " must be " + (type == "integer" || type == "object" ? "an " : "a ") + type +
                 ", not " + text);
}

// As a shell reads it back.
std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// How many letters must be put in, left out or replaced to get from one to the other.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Whether the properties of this object schema are all that it speaks of.
bool names_all_properties(const Json& schema) {
  const Json* properties = schema.find("properties");
  const Json* more = schema.find("additionalProperties");
  const bool open = more != nullptr && (*more == Json(true) || more->is_object());
  if (properties == nullptr || !properties->is_object() || open) return false;
  const auto elsewhere = {"patternProperties",
                          "unevaluatedProperties",
                          "allOf",
                          "anyOf",
                          "oneOf",
                          "$ref",
                          "dependentSchemas",
                          "if"};
  return std::none_of(elsewhere.begin(), elsewhere.end(),
                      [&](std::string_view keyword) { return schema.find(keyword) != nullptr; });
}

}  // namespace

std::string Target::text() const {
  if (!url.empty()) return url;
  std::string all;
  for (const std::string& word : command) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string command_line(const std::string& command, const Target& target,
                         const std::vector<std::string>& words) {
  std::string line = "signet " + command;
  if (!target.url.empty()) line += " " + shell_word(target.url);
  if (!target.command.empty()) line += " --";
  for (const std::string& word : target.command) line += " " + shell_word(word);
  if (!target.command.empty()) line += " --";
  for (const std::string& word : words) line += " " + shell_word(word);
  return line;
}

Result<Split> split_command(const std::vector<std::string>& words, std::size_t trailing_words,
                            const OptionNames& ours) {
  Split split;
  const auto first = std::find(words.begin(), words.end(), "--");
  split.words.assign(words.begin(), first);
  if (first == words.end()) return split;
  const std::vector<std::string> behind(first + 1, words.end());
  const auto second = std::find(behind.begin(), behind.end(), "--");
  std::size_t command_size = static_cast<std::size_t>(second - behind.begin());
  std::size_t rest = command_size + 1;
  if (second == behind.end()) {
    const std::size_t tail = trailing_words == 0 ? 0 : own_tail(behind, ours);
    if (behind.size() < tail + trailing_words + 1) {
      return failure("behind -- come the server's command and what to call there");
    }
    command_size = behind.size() - tail - trailing_words;
    rest = command_size;
    if (trailing_words > 0 && behind[rest].starts_with("-")) {
      return failure("the last word of the command is an option (" + behind[rest] +
                     "); write a second -- between the command and what to call");
    }
  }
  if (command_size == 0) return failure("there is no command behind --");
  split.command.assign(behind.begin(), behind.begin() + static_cast<std::ptrdiff_t>(command_size));
  if (rest < behind.size()) {
    split.words.insert(split.words.end(), behind.begin() + static_cast<std::ptrdiff_t>(rest), behind.end());
  }
  return split;
}

std::vector<std::string> separate_json(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      // A command's own --json stays its own.
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool has_value = words[i] == "--json" && i + 1 < words.size() && looks_like_json(words[i + 1]);
    if (has_value) {
      out.emplace_back("--arguments");
    } else if (words[i].starts_with("--json=")) {
      out.push_back("--arguments=" + words[i].substr(7));
    } else {
      out.push_back(words[i]);
    }
  }
  return out;
}

std::optional<std::string> as_url(std::string_view word) {
  if (word.starts_with("http://") || word.starts_with("https://")) return std::string(word);
  for (const std::string_view host : {"localhost:", "127.0.0.1:", "[::1]:"}) {
    if (word.starts_with(host)) return "http://" + std::string(word);
  }
  return std::nullopt;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  std::string_view key = word.substr(0, equals);
  if (key.ends_with(':')) key.remove_suffix(1);
  if (key.empty() || !starts(key.front())) return false;
  return std::all_of(key.begin(), key.end(),
                     [&](char c) { return starts(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

Result<Json> arguments_from(const std::vector<std::string>& words, const Json& schema) {
  Json arguments = Json::object();
  for (const std::string& word : words) {
    if (!is_assignment(word)) return failure("arguments have the form key=value, not " + word);
    const std::size_t equals = word.find('=');
    const bool raw = word[equals - 1] == ':';
    const std::string key = word.substr(0, raw ? equals - 1 : equals);
    const std::string text = word.substr(equals + 1);
    if (!json::is_utf8(text)) return failure("the argument " + key + " is no UTF-8 text");
    const std::string type = type_of(schema, key);
    Result<Json> value = Json();
    if (raw) {
      Result<Json, json::ParseError> parsed = json::parse(text);
      if (!parsed) return failure(key + ":= needs JSON: " + describe_json_error(parsed.error(), text));
      value = std::move(*parsed);
    } else {
      value = typed(key, text, type);
      if (!value) return value;
    }
    Json* known = arguments.find(key);
    if (known == nullptr) {
      arguments.set(key, std::move(*value));
    } else if (known->is_array() && type == "array" && value->is_array()) {
      for (Json& element : *value->as_array()) known->push_back(std::move(element));
    } else {
      return failure("the argument " + key + " is given twice");
    }
  }
  return arguments;
}

std::vector<std::string> unknown_arguments(const Json& arguments, const Json& schema) {
  std::vector<std::string> sentences;
  if (!arguments.is_object() || !names_all_properties(schema)) return sentences;
  std::vector<std::string> names;
  for (const auto& [name, property] : *schema.find("properties")->as_object()) names.push_back(name);
  for (const auto& [name, value] : *arguments.as_object()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::optional<std::string> meant = nearest_name(name, names);
    sentences.push_back("the tool has no argument " + name + (meant ? "; did you mean " + *meant + "?" : ""));
  }
  return sentences;
}

std::string describe_json_error(const json::ParseError& error, std::string_view text) {
  const bool cut = error.kind == json::ParseError::Kind::syntax && error.offset >= text.size();
  if (!cut) return json::describe(error);
  if (text.empty()) return "The text is empty.";
  return "The text ends early (at byte " + std::to_string(error.offset) + ").";
}

std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t letters_max = 64;  // of what a person may have mistyped
  const std::string* nearest = nullptr;
  std::size_t fewest = std::min<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string& name : names) {
    if (word.size() > letters_max || name.size() > letters_max) continue;
    const std::size_t edits = edits_between(word, name);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = &name;
  }
  return nearest != nullptr ? std::optional<std::string>(*nearest) : std::nullopt;
}

}  // namespace signet::cli
