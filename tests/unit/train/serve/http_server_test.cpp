// Clients that close their side, go, or read nothing, at the level of TCP. What they ask for is not the model's.
#include "train/serve/http_server.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "train/serve/api_error.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

using namespace monomorph::train;
using namespace monomorph::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t large_bytes = std::size_t{64} << 20;

/// A server whose answers wait until they are told to come, or their client is gone.
class WaitingServer {
 public:
  explicit WaitingServer(const HttpLimits& limits = {})
      : server_(limits, {.admit = [this](const HttpRequest& request) { return admit(request); },
                         .answer = [this](const HttpRequest& request) { return answer(request); },
                         .log = [this](const std::string& line) { log(line); }}),
        port_(server_.listen("127.0.0.1", 0)) {}

  int port() const { return port_; }
  void let_answer() { may_answer_ = true; }
  /// How many requests wait for their answer.
  bool waits(int requests) const {
    return wait_until(10s, [&] { return waiting_ == requests; });
  }
  /// Whether the log says so of a request, before long.
  bool logs(const std::string& status) {
    return wait_until(10s, [&] {
      const std::lock_guard lock(mutex_);
      return contains(log_, " /v1/completions " + status + " ");
    });
  }
  std::int64_t written_bytes() const { return written_; }
  std::int64_t connections() const { return server_.connections(); }
  std::int64_t answering() const { return server_.answering(); }
  void stop_listening() { server_.stop_listening(); }
  bool has_streams() const { return !streams_.expired(); }
  std::vector<std::string> hosts() {
    const std::lock_guard lock(mutex_);
    return hosts_;
  }

 private:
  HttpReply admit(const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    hosts_ = request.hosts;
    return {};
  }
  HttpReply answer(const HttpRequest& request) {
    if (request.body == R"("large")") return {.body = std::string(large_bytes, ' ')};
    if (request.body == R"("whole")") {
      wait(request.client_is_gone);
      return {.body = R"("answer")"};
    }
    if (request.body == R"("late stream")") {
      const auto mark = std::make_shared<int>();
      streams_ = mark;
      wait(request.client_is_gone);
      return {.stream = [mark](const EventStream& client) { client.write("data: too late\n\n"); }};
    }
    if (request.body == R"("stream")")
      return {.stream = [this](const EventStream& client) {
        client.write("data: first\n\n");
        if (!wait_unless(client.client_is_gone)) client.write("data: last\n\n");
      }};
    return {.stream = [this](const EventStream& client) {
      const std::string piece(1 << 16, ' ');
      while (client.write(piece)) written_ += std::ssize(piece);
    }};
  }
  void wait(const std::function<bool()>& client_is_gone) {
    if (wait_unless(client_is_gone)) throw ApiError(499, "gone");
  }
  /// @return whether the client is gone
  bool wait_unless(const std::function<bool()>& client_is_gone) {
    ++waiting_;
    bool gone = false;
    while (!may_answer_ && !gone) {
      std::this_thread::sleep_for(5ms);
      gone = client_is_gone();
    }
    --waiting_;
    return gone;
  }
  void log(const std::string& line) {
    const std::lock_guard lock(mutex_);
    log_ += line + "\n";
  }

  std::atomic<bool> may_answer_ = false;
  std::atomic<int> waiting_ = 0;
  std::atomic<std::int64_t> written_ = 0;
  std::mutex mutex_;
  std::string log_;
  std::vector<std::string> hosts_;
  std::weak_ptr<int> streams_;  ///< those that are late, as long as they are there
  HttpServer server_;
  int port_;
};

class Client {
 public:
  /// @param receive_bytes of its buffer; 0 for as many as the system likes
  Client(const WaitingServer& server, const std::string& wish, const std::string& version = "1.1",
         int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    const timeval longest{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    const std::string body = '"' + wish + '"',
                      request = "POST /v1/completions HTTP/" + version +
                                "\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    REQUIRE(::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) == std::ssize(request));
  }
  Client(const Client&) = delete;
  ~Client() { close(); }

  void close_its_side() const { REQUIRE(::shutdown(socket_, SHUT_WR) == 0); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  /// What has come when this has come; or all, at the end of the connection.
  std::string read_until(const std::string& text) {
    std::array<char, 4096> piece{};
    while (text.empty() || !contains(read_, text)) {
      const ssize_t n = ::recv(socket_, piece.data(), piece.size(), 0);
      if (n <= 0) break;
      read_.append(piece.data(), static_cast<std::size_t>(n));
    }
    return read_;
  }
  std::string read_all() { return read_until(""); }
  /// A little of what there is.
  void read_some() {
    std::array<char, 1 << 14> piece{};
    ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
  }

 private:
  int socket_;
  std::string read_;
};

}  // namespace

TEST_CASE("a client that has closed its side of the connection gets its answer") {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  for (const std::string wish : {"whole", "stream"}) {
    CAPTURE(wish);
    WaitingServer server;
    Client client(server, wish);
    client.close_its_side();
    const std::string asked = wish == "whole" ? interim : ":\n\n";
    CHECK(contains(client.read_until(asked), asked));
    server.let_answer();
    const std::string answer = client.read_all();
    CAPTURE(answer);
    CHECK(contains(answer, "HTTP/1.1 200 OK"));
    CHECK(contains(answer, wish == "whole" ? R"("answer")" : "data: last\n\n"));
    CHECK(answer.starts_with(interim) == (wish == "whole"));
    CHECK(server.logs("200"));
  }
}

TEST_CASE("one that keeps its side open is asked nothing") {
  WaitingServer server;
  Client client(server, "whole");
  REQUIRE(server.waits(1));
  std::this_thread::sleep_for(50ms);
  server.let_answer();
  CHECK(client.read_until(R"("answer")").starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("a client that goes while it waits is found, whatever way it goes") {
  WaitingServer server;
  for (const std::string wish : {"whole", "stream"}) {
    CAPTURE(wish);
    for (const auto go : {&Client::close, &Client::reset}) {
      Client client(server, wish);
      REQUIRE(server.waits(1));
      (client.*go)();
      CHECK(server.waits(0));
    }
    Client half_closed(server, wish);
    half_closed.close_its_side();
    half_closed.read_until(wish == "whole" ? "100 Continue" : ":\n\n");
    half_closed.close();  // nothing tells of it but the next question
    CHECK(server.waits(0));
  }
  CHECK(server.logs("499"));
}

TEST_CASE("a client of HTTP/1.0 that has closed its side counts as gone, unless its answer is a stream") {
  WaitingServer server;
  Client whole(server, "whole", "1.0");
  whole.close_its_side();
  CHECK(contains(whole.read_all(), " 499 "));
  Client stream(server, "stream", "1.0");
  stream.close_its_side();
  stream.read_until(":\n\n");
  server.let_answer();
  CHECK(contains(stream.read_all(), "data: last\n\n"));
}

TEST_CASE("a client that takes its answer slowly, but always some of it, is left when the request's time is over") {
  for (const std::string wish : {"large", "endless"}) {
    CAPTURE(wish);
    WaitingServer server({.request = 1s, .stalled_write = 1s});
    Client slow(server, wish, "1.1", 1 << 16);
    CHECK(contains(slow.read_until("\r\n\r\n"), "200 OK"));
    CHECK(wait_until(10s, [&] {
      slow.read_some();
      return server.connections() == 0;
    }));
    if (wish == "endless") CHECK(server.logs("499"));
  }
}

TEST_CASE("whoever judges requests is told the hosts that they name") {
  WaitingServer server;
  server.let_answer();
  Client client(server, "whole");
  client.read_until(R"("answer")");
  CHECK(server.hosts() == std::vector<std::string>{"here"});
}

TEST_CASE("a client that reads nothing of its stream loses its place, and others are served meanwhile") {
  WaitingServer server({.connections = 2, .stalled_write = 1s});
  server.let_answer();
  Client stalled(server, "endless", "1.1", 2048);
  Client other(server, "whole");
  CHECK(contains(other.read_until(R"("answer")"), "200 OK"));
  CHECK(server.logs("499"));
  CHECK(server.written_bytes() < 16 << 20);  // what two sockets hold
  Client in_its_place(server, "whole");
  CHECK(contains(in_its_place.read_until(R"("answer")"), "200 OK"));
}

TEST_CASE("a request counts as being answered until its answer is written") {
  WaitingServer server;
  Client whole(server, "whole"), stream(server, "stream");
  REQUIRE(server.waits(2));
  CHECK(server.answering() == 2);
  server.let_answer();
  CHECK(contains(whole.read_until(R"("answer")"), "200 OK"));
  stream.read_until("data: last\n\n");
  CHECK(wait_until(10s, [&] { return server.answering() == 0; }));
  CHECK(server.connections() == 2);
}

TEST_CASE("of a server that has stopped listening, what is answered whole is answered, and a stream is refused") {
  WaitingServer server;
  Client whole(server, "whole"), stream(server, "late stream");
  REQUIRE(server.waits(2));
  server.stop_listening();
  CHECK(server.has_streams());
  server.let_answer();
  CHECK(contains(whole.read_all(), R"("answer")"));
  const std::string refused = stream.read_all();
  CAPTURE(refused);
  CHECK(refused.starts_with("HTTP/1.1 503 Service Unavailable"));
  CHECK(contains(refused, "the server ends"));
  CHECK(wait_until(10s, [&] { return !server.has_streams(); }));
}

TEST_CASE("a stream that begins when the server stops listening has its events, or is refused") {
  for (int trial = 0; trial < 30; ++trial) {
    WaitingServer server;
    server.let_answer();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 16; ++i) clients.push_back(std::make_unique<Client>(server, "stream"));
    std::this_thread::sleep_for(std::chrono::microseconds(20 * trial));
    server.stop_listening();
    for (const auto& client : clients) {
      const std::string answer = client->read_all();
      CAPTURE(trial, answer);
      if (contains(answer, "200 OK")) CHECK(contains(answer, "data: last\n\n"));
    }
  }
}
