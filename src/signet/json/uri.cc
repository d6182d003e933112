#include <signet/json/uri.h>

#include <algorithm>
#include <charconv>

namespace signet::json {
namespace {

struct Parts {
  std::string_view scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_scheme_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

// RFC 3986, appendix B.
Parts parts_of(std::string_view text) {
  Parts parts;
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && is_letter(text.front()) &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme_character)) {
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t slash = std::min(text.find('/'), text.size());
    parts.authority = text.substr(0, slash);
    text.remove_prefix(slash);
  }
  parts.path = text;
  return parts;
}

// RFC 3986, section 5.2.4.
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./")) {
      path.remove_prefix(2);
    } else if (path.starts_with("/./") || path == "/.") {
      path = path == "/." ? std::string_view("/") : path.substr(2);
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? std::string_view("/") : path.substr(3);
      out.erase(std::min(out.rfind('/'), out.size()));
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t next = std::min(path.find('/', 1), path.size());
      out.append(path.substr(0, next));
      path.remove_prefix(next);
    }
  }
  return out;
}

std::string merged_path(const Parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const std::size_t slash = base.path.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? "" : base.path.substr(0, slash + 1);
  return std::string(folder) + std::string(path);
}

std::string joined(std::string_view scheme, std::optional<std::string_view> authority, std::string_view path,
                   std::optional<std::string_view> query, std::optional<std::string_view> fragment) {
  std::string uri(scheme);
  uri.push_back(':');
  if (authority) uri.append("//").append(*authority);
  uri.append(path);
  if (query) uri.append("?").append(*query);
  if (fragment) uri.append("#").append(*fragment);
  return uri;
}

}  // namespace

SplitUri split_fragment(std::string_view uri) {
  const std::size_t hash = std::min(uri.find('#'), uri.size());
  return {std::string(uri.substr(0, hash)), std::string(uri.substr(std::min(hash + 1, uri.size())))};
}

// RFC 3986, section 5.2.2.
std::string resolve_uri(std::string_view base_text, std::string_view reference_text) {
  const Parts base = parts_of(base_text);
  const Parts reference = parts_of(reference_text);
  if (!reference.scheme.empty()) {
    return joined(reference.scheme, reference.authority, without_dots(reference.path), reference.query,
                  reference.fragment);
  }
  if (reference.authority) {
    return joined(base.scheme, reference.authority, without_dots(reference.path), reference.query,
                  reference.fragment);
  }
  if (reference.path.empty()) {
    return joined(base.scheme, base.authority, base.path, reference.query ? reference.query : base.query,
                  reference.fragment);
  }
  const std::string path =
      reference.path.starts_with("/") ? std::string(reference.path) : merged_path(base, reference.path);
  return joined(base.scheme, base.authority, without_dots(path), reference.query, reference.fragment);
}

std::optional<std::vector<std::string>> split_pointer(std::string_view pointer) {
  std::vector<std::string> names;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    const std::size_t next = std::min(pointer.find('/', 1), pointer.size());
    std::string name;
    for (std::size_t i = 1; i < next; ++i) {
      if (pointer[i] != '~') {
        name.push_back(pointer[i]);
        continue;
      }
      if (++i == next || (pointer[i] != '0' && pointer[i] != '1')) return std::nullopt;
      name.push_back(pointer[i] == '0' ? '~' : '/');
    }
    names.push_back(std::move(name));
    pointer.remove_prefix(next);
  }
  return names;
}

void append_pointer(std::string& pointer, std::string_view name) {
  pointer.push_back('/');
  for (const char c : name) {
    if (c == '~') {
      pointer.append("~0");
    } else if (c == '/') {
      pointer.append("~1");
    } else {
      pointer.push_back(c);
    }
  }
}

const Json* step_into(const Json& value, std::string_view name) {
  if (value.is_object()) return value.find(name);
  const JsonArray* array = value.as_array();
  if (array == nullptr || name.empty() || (name.size() > 1 && name.front() == '0')) return nullptr;
  std::size_t index = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size() || index >= array->size())
    return nullptr;
  return &(*array)[index];
}

}  // namespace signet::json
