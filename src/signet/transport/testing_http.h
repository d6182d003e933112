// A raw HTTP client and a served TestingService, for the tests of the HTTP server. Not part of the library's interface.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <signet/transport/http_server.h>
#include <signet/transport/testing_service.h>

namespace signet::transport {

struct Reading {
  int status = 0;                              // 0: the connection ended before a response
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunks joined
  bool complete = false;
};

// One raw connection.
class Wire {
 public:
  explicit Wire(std::uint16_t port) : Wire() { connect(port); }
  Wire() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  void connect(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const int at_once = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Wire() { close(); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  // Reads on until `text` is there; false at the end of the connection.
  bool read_until(std::string_view text) {
    while (buffer_.find(text) == std::string::npos) {
      if (!more()) return false;
    }
    return true;
  }
  const std::string& buffer() const { return buffer_; }

  Reading read() {
    Reading reading;
    if (!read_until("\r\n\r\n")) return reading;
    const std::size_t end = buffer_.find("\r\n\r\n");
    const std::string head = buffer_.substr(0, end);
    buffer_.erase(0, end + 4);
    reading.status = std::stoi(head.substr(9, 3));
    for (std::size_t at = head.find("\r\n"); at != std::string::npos;) {
      const std::size_t next = head.find("\r\n", at + 2);
      const std::string line = head.substr(at + 2, next == std::string::npos ? next : next - at - 2);
      std::string name = line.substr(0, line.find(':'));
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      reading.headers[name] = line.substr(line.find(':') + 2);
      at = next;
    }
    if (reading.headers.count("transfer-encoding") > 0) {
      reading.complete = read_chunks(reading.body);
    } else if (reading.headers.count("content-length") > 0) {
      const std::size_t length = std::stoul(reading.headers["content-length"]);
      while (buffer_.size() < length && more()) {
      }
      reading.complete = buffer_.size() >= length;
      reading.body = buffer_.substr(0, length);
      buffer_.erase(0, length);
    } else if (reading.status == 204 || reading.status < 200) {
      reading.complete = true;
    } else {
      while (more()) {
      }
      reading.body = std::exchange(buffer_, std::string());
      reading.complete = true;
    }
    return reading;
  }

  // True if the server closes the connection without another byte.
  bool ends() {
    while (more()) {
    }
    return buffer_.empty();
  }

 private:
  bool more() {
    char bytes[65536];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  bool read_chunks(std::string& body) {
    while (true) {
      if (!read_until("\r\n")) return false;
      const std::size_t line = buffer_.find("\r\n");
      const std::size_t size = std::stoul(buffer_.substr(0, line), nullptr, 16);
      while (buffer_.size() < line + 2 + size + 2) {
        if (!more()) return false;
      }
      body += buffer_.substr(line + 2, size);
      buffer_.erase(0, line + 2 + size + 2);
      if (size == 0) return true;
    }
  }

  int socket_;
  std::string buffer_;
};

inline HttpOptions quick() {
  HttpOptions options;
  options.shutdown_grace = std::chrono::milliseconds(100);
  return options;
}

// A server that serves the testing service on a thread of its own.
class Served {
 public:
  explicit Served(HttpOptions options = quick()) : server_(service, std::move(options)) {
    const Result<void> started = server_.start();
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    thread_ = std::thread([this] { server_.run(); });
  }
  ~Served() { stop(); }
  void stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return server_.port(); }
  std::uint16_t admin_port() const { return server_.admin_port(); }

  // Waits for what happens on the server's thread.
  void wait_for(const std::atomic<int>& count, int value) const {
    while (count < value) std::this_thread::yield();
  }

  TestingService service;

 private:
  HttpServer server_;
  std::thread thread_;
};

inline std::string raw(const std::string& method, const std::string& headers, const std::string& body,
                       const std::string& target = "/mcp") {
  return method + " " + target + " HTTP/1.1\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline const std::string host = "Host: localhost\r\n";
inline const std::string json_type =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

inline std::string modern_headers(const std::string& method) {
  return host + json_type + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n";
}

inline std::string modern(const std::string& id, const std::string& method, const std::string& members = "",
                          const std::string& more_headers = "") {
  return raw("POST", modern_headers(method) + more_headers, modern_request(id, method, members));
}

inline std::string legacy(const std::string& body, const std::string& session = "",
                          const std::string& more = "") {
  return raw("POST", host + json_type + (session.empty() ? "" : "Mcp-Session-Id: " + session + "\r\n") + more,
             body);
}

inline Reading answer_to(const Served& served, const std::string& request) {
  Wire wire(served.port());
  wire.send(request);
  return wire.read();
}

// What was logged, from any thread.
class Lines {
 public:
  LogSink sink() {
    return [this](LogLevel, std::string_view event, std::initializer_list<LogField> fields) {
      std::string line(event);
      for (const auto& [name, value] : fields) line += " " + std::string(name) + "=" + value;
      const std::lock_guard<std::mutex> lock(mutex_);
      lines_.push_back(std::move(line));
    };
  }
  std::size_t count(std::string_view part) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }
  void wait_for(std::string_view part, std::size_t times) const {
    while (count(part) < times) std::this_thread::yield();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline Reading admin_answer(const Served& served, const std::string& target,
                            const std::string& headers = host) {
  Wire wire(served.admin_port());
  wire.send("GET " + target + " HTTP/1.1\r\n" + headers + "\r\n");
  return wire.read();
}

// The header of a POST whose body is still to come.
inline std::string head_of(const std::string& method, std::size_t body_bytes, const std::string& more) {
  return "POST /mcp HTTP/1.1\r\n" + modern_headers(method) + more +
         "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

inline int error_code(const Reading& reading) {
  const Result<Json, json::ParseError> body = json::parse(reading.body);
  const Json* error = body.ok() ? body->find("error") : nullptr;
  return error != nullptr ? static_cast<int>(error->find("code")->as_int64().value_or(0)) : 0;
}

// The messages of an event stream.
inline std::vector<std::string> data_of(const std::string& events) {
  std::vector<std::string> all;
  for (std::size_t at = events.find("data: "); at != std::string::npos; at = events.find("data: ", at + 1)) {
    const std::size_t end = events.find('\n', at);
    all.push_back(events.substr(at + 6, end - at - 6));
  }
  return all;
}

}  // namespace signet::transport
