#include <signet/cli/saved_call.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <signet/json/text.h>

namespace signet::cli {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{16} << 20;
constexpr std::string_view standard_input = "-";

// For messages.
std::string name_of(const std::string& path) { return path == standard_input ? "standard input" : path; }

bool is_own(const std::string& path) {
  struct stat found{};
  return path != standard_input && ::stat(path.c_str(), &found) == 0 &&
         (found.st_uid == ::geteuid() || found.st_uid == 0) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Failure<Error> system_failure(const std::string& path) { return failure(path + ": " + std::strerror(errno)); }

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const int fd = path == standard_input ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_failure(path);
  std::string text;
  std::array<char, 16384> piece{};
  ssize_t got = 0;
  while ((got = ::read(fd, piece.data(), piece.size())) > 0 && text.size() <= file_bytes_max) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  if (fd != 0) ::close(fd);
  if (got < 0) return system_failure(name_of(path));
  if (text.size() > file_bytes_max) return failure(name_of(path) + ": larger than 16 MiB");
  return text;
}

bool is_there(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0;
}

bool is_same_file(const std::string& path, const std::string& other) {
  struct stat one{};
  struct stat two{};
  return ::stat(path.c_str(), &one) == 0 && ::stat(other.c_str(), &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

Result<void> write_private_file(const std::string& path, const std::string& text, Existing existing) {
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());  // mode 0600
  if (fd < 0) return system_failure(path);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(fd, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  const bool whole = written == text.size() && ::fsync(fd) == 0;
  ::close(fd);
  const bool placed =
      whole && (existing == Existing::replaced ? std::rename(temporary.c_str(), path.c_str()) == 0
                                               : ::link(temporary.c_str(), path.c_str()) == 0);
  if (placed && existing == Existing::replaced) return {};
  const bool taken = !placed && whole && errno == EEXIST;
  const Failure<Error> failed =
      taken ? failure(path + " is there already; --force replaces it") : system_failure(path);
  ::unlink(temporary.c_str());
  if (!placed) return failed;
  return {};
}

Result<void> save_call(const std::string& path, const SavedCall& call, Existing existing) {
  Json json = Json::object({{"signetCall", 1}, {"continuation", call.continuation.serialize()}});
  if (!call.server_name.empty()) json.set("server", call.server_name);
  if (!call.target.url.empty()) json.set("url", call.target.url);
  if (!call.target.command.empty()) {
    json.set("command", JsonArray(call.target.command.begin(), call.target.command.end()));
  }
  return write_private_file(path, json::write(json) + "\n", existing);
}

std::string restart_line(const SavedCall& call) {
  const Json& params = call.continuation.params();
  const std::string* uri = params.find_string("uri");
  if (uri != nullptr) return command_line("read", call.target, {*uri});
  const std::string* name = params.find_string("name");
  std::vector<std::string> words{name != nullptr ? *name : std::string()};
  const Json* arguments = params.find("arguments");
  if (call.continuation.method() != "prompts/get") {
    if (arguments != nullptr) words.insert(words.end(), {"--json", json::write(*arguments)});
    return command_line("call", call.target, words);
  }
  if (arguments != nullptr && arguments->is_object()) {
    for (const auto& [key, value] : *arguments->as_object())
      words.push_back(value.is_string() ? key + "=" + *value.as_string() : key + ":=" + json::write(value));
  }
  return command_line("prompt", call.target, words);
}

Result<SavedCall> load_call(const std::string& path, const Target& instead) {
  const Result<std::string> text = read_file(path);
  if (!text) return failure(text.error());
  json::Limits limits;
  limits.bytes_max = file_bytes_max;
  const Result<Json, json::ParseError> json = json::parse(*text, limits);
  const std::string* continuation = json ? json->find_string("continuation") : nullptr;
  if (!json || json->find("signetCall") == nullptr || continuation == nullptr) {
    return failure(name_of(path) + " holds no call that signet has saved");
  }
  Result<Continuation> parsed = Continuation::parse(*continuation);
  if (!parsed) return failure(name_of(path) + ": " + parsed.error().message);
  SavedCall call;
  call.continuation = std::move(*parsed);
  const std::string* server_name = json->find_string("server");
  if (server_name != nullptr) call.server_name = *server_name;
  if (!instead.empty()) {
    call.target = instead;
    return call;
  }
  const std::string* url = json->find_string("url");
  if (url != nullptr) call.target.url = *url;
  const Json* command = json->find("command");
  if (command != nullptr && command->is_array()) {
    for (const Json& word : *command->as_array()) {
      if (word.is_string()) call.target.command.push_back(*word.as_string());
    }
  }
  if (call.target.empty()) return failure(name_of(path) + " does not say which server");
  if (call.target.command.empty() || is_own(path)) return call;
  if (path == standard_input)
    return failure(
        "what comes on standard input names a command to start, and anybody may have written it: name the "
        "server on the command line, behind --resume -");
  return failure(path +
                 " names a command to start, and others may write to it: make it yours alone (mode 600)");
}

}  // namespace signet::cli
