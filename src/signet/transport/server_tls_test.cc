#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <signet/transport/testing_http.h>

namespace signet::transport {
namespace {

namespace asio = boost::asio;

// A key and a certificate for `localhost`, signed by itself, in files of the test's folder.
class Certificate {
 public:
  explicit Certificate(const std::string& name)
      : certificate_file(::testing::TempDir() + name + ".crt"),
        key_file(::testing::TempDir() + name + ".key") {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::fopen(certificate_file.c_str(), "w"),
                                                             std::fclose);
    PEM_write_X509(to.get(), certificate.get());
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> secret(std::fopen(key_file.c_str(), "w"),
                                                                 std::fclose);
    PEM_write_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  ~Certificate() {
    std::remove(certificate_file.c_str());
    std::remove(key_file.c_str());
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  std::string certificate_file;
  std::string key_file;
};

HttpOptions with_tls(const Certificate& certificate) {
  HttpOptions options = quick();
  options.tls_certificate_file = certificate.certificate_file;
  options.tls_key_file = certificate.key_file;
  return options;
}

class TlsWire {
 public:
  TlsWire(std::uint16_t port, const Certificate& trusted)
      : context_(asio::ssl::context::tls_client), stream_(io_, context_) {
    context_.load_verify_file(trusted.certificate_file);
    stream_.next_layer().connect({asio::ip::address_v4::loopback(), port});
    stream_.set_verify_mode(asio::ssl::verify_peer);
    stream_.handshake(asio::ssl::stream_base::client);
  }
  void send(const std::string& bytes) { asio::write(stream_, asio::buffer(bytes)); }
  // Everything up to and with `text`.
  std::string read_until(const std::string& text) {
    asio::read_until(stream_, asio::dynamic_buffer(buffer_), text);
    return buffer_;
  }

 private:
  asio::io_context io_;
  asio::ssl::context context_;
  asio::ssl::stream<asio::ip::tcp::socket> stream_;
  std::string buffer_;
};

TEST(ServerTls, AnswersStreamsAndKeepsTheConnection) {
  const Certificate certificate("answers");
  const Served served(with_tls(certificate));
  TlsWire wire(served.port(), certificate);
  wire.send(modern("1", "echo", R"("x":1)"));
  wire.read_until(R"("id":1,"result":{"x":1}})");
  wire.send(modern("2", "notify", R"("count":2)"));
  wire.read_until("\r\n0\r\n\r\n");
  wire.send(modern("3", "later"));
  wire.read_until(R"("id":3,"result":{"later":true}})");
}

TEST(ServerTls, ATargetInAbsoluteFormIsServedWithHttpsOverTls) {  // RFC 9112, section 3.2.2
  const Certificate certificate("absolute");
  const Served served(with_tls(certificate));
  const auto answer = [&](const std::string& target) {
    TlsWire wire(served.port(), certificate);
    wire.send(raw("POST", modern_headers("echo"), modern_request("1", "echo"), target));
    return wire.read_until("\r\n").substr(0, 12);
  };
  EXPECT_EQ(answer("https://localhost/mcp"), "HTTP/1.1 200");
  EXPECT_EQ(answer("HTTPS://localhost:8443/mcp"), "HTTP/1.1 200");
  EXPECT_EQ(answer("https://evil.example/mcp"), "HTTP/1.1 403");
  EXPECT_EQ(answer("https://localhost/other"), "HTTP/1.1 404");
}

TEST(ServerTls, AClientThatGoesCancelsItsRequest) {  // S31
  const Certificate certificate("cancels");
  const Served served(with_tls(certificate));
  {
    TlsWire wire(served.port(), certificate);
    wire.send(modern("1", "drip"));
    wire.read_until("notifications/progress");
  }
  served.wait_for(served.service.dropped, 1);
}

TEST(ServerTls, PlainHttpOnATlsPortEndsTheConnection) {
  const Certificate certificate("plain");
  const Served served(with_tls(certificate));
  Wire wire(served.port());
  wire.send(modern("1", "echo"));
  while (wire.read_until("never sent")) {
  }
  EXPECT_EQ(wire.buffer().find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(served.service.started, 0);
}

TEST(ServerTls, AKeyOrCertificateThatCannotBeUsedIsAnErrorAtStart) {
  const Certificate certificate("start");
  const Certificate other("other");
  TestingService service;
  HttpOptions options = with_tls(certificate);
  options.tls_key_file.clear();
  EXPECT_FALSE(HttpServer(service, options).start().ok());
  options.tls_key_file = "/nonexistent";
  EXPECT_FALSE(HttpServer(service, options).start().ok());
  options.tls_key_file = other.key_file;
  EXPECT_FALSE(HttpServer(service, options).start().ok());
}

}  // namespace
}  // namespace signet::transport
