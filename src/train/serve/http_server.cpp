#include "train/serve/http_server.hpp"

#include "train/serve/api_error.hpp"
#include "train/serve/connection.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#ifdef MONOMORPH_HAS_HTTPLIB
// The features that Debian's library was built with: they shape its types.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;

/// That the head of a stream may take, before its first event: its client may read nothing.
constexpr std::chrono::seconds longest_beginning{1};

/// One more of something, as long as it is there.
class Counted {
 public:
  explicit Counted(std::atomic<std::int64_t>& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::atomic<std::int64_t>& count_;
};

/// The client that this thread serves.
struct Serving {
  Connection* connection;
  Clock::time_point begin{};
  std::optional<Counted> answering{};
};
thread_local Serving* serving = nullptr;

/// One of the connections that may be served at a time. It is free again before the client can see the end of its
/// connection: whoever opens one after another is never told that there are too many.
class Place {
 public:
  explicit Place(std::atomic<std::int64_t>& taken) : taken_(taken) {}
  Place(const Place&) = delete;
  ~Place() { --taken_; }

 private:
  std::atomic<std::int64_t>& taken_;
};
/// The place of the connection that this thread is to serve; none where it is one too many.
thread_local std::atomic<std::int64_t>* places = nullptr;

/// What cpp-httplib reads and writes.
class ConnectionStream : public httplib::Stream {
 public:
  explicit ConnectionStream(Connection& connection) : connection_(connection) {}
  bool is_readable() const override { return connection_.is_readable(); }
  bool is_writable() const override { return !connection_.is_gone(); }
  ssize_t read(char* into, std::size_t size) override { return connection_.read(into, size); }
  ssize_t write(const char* from, std::size_t size) override { return connection_.write(from, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { address(::getpeername, ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { address(::getsockname, ip, port); }
  socket_t socket() const override { return connection_.socket(); }

 private:
  template <class Ask> void address(Ask ask, std::string& ip, int& port) const {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    auto* const any = reinterpret_cast<sockaddr*>(&storage);
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    if (ask(connection_.socket(), any, &size) != 0 ||
        ::getnameinfo(any, size, host.data(), host.size(), service.data(), service.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
      return;
    ip = host.data();
    port = std::atoi(service.data());
  }

  Connection& connection_;
};

/// A thread for each connection, within limits. Those beyond are told so, by a few threads more, and then closed.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  ConnectionThreads(std::int64_t most, std::atomic<std::int64_t>& open) : most_(most), open_(open) {}

  void enqueue(std::function<void()> serve) override {
    const bool has_place = served_ < most_;
    if (has_place) ++served_;
    const std::int64_t before = open_++;
    try {
      if (before < most_ + 16) {
        std::thread([this, has_place, serve] {
          places = has_place ? &served_ : nullptr;
          serve();
          leave();
        }).detach();
        return;
      }
    } catch (const std::system_error&) {  // no more threads
    }
    if (has_place) --served_;
    places = nullptr;
    serve();
    leave();
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return open_ == 0; });
  }

 private:
  void leave() {
    const std::lock_guard lock(mutex_);
    --open_;
    left_.notify_all();
  }

  std::int64_t most_;
  std::atomic<std::int64_t>& open_;  ///< with those that are refused, or wait for what a client still sends
  std::atomic<std::int64_t> served_ = 0;
  std::mutex mutex_;
  std::condition_variable left_;
};

/// What a client has sent, as one line can show it.
std::string printable(std::string text) {
  text.resize(std::min<std::size_t>(text.size(), 200));
  for (char& character : text)
    if (character < ' ' || character > '~') character = '?';
  return text;
}

// What asks a client whether it is still there (Connection::is_gone). Before its answer: an interim response, which one
// that expects none discards (RFC 9110, 15.2.1). In a stream: a comment.
constexpr std::string_view interim_response = "HTTP/1.1 100 Continue\r\n\r\n", event_comment = ":\n\n";

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         request.get_header_value("Content-Length", 0).find_first_not_of('0') != std::string::npos;
}

/// Forms, parts of files and what is compressed are refused before they are read: nothing here takes them apart.
std::string refused_content(const httplib::Request& request) {
  const std::string encoding = request.get_header_value("Content-Encoding");
  if (!encoding.empty() && encoding != "identity") return "the request's body is compressed; send it as it is";
  if (has_body(request) && request.get_header_value("Content-Type").find("application/json") != 0)
    return "the request's body must be JSON, with the header Content-Type: application/json";
  return "";
}

std::string reason_of(int status) {
  switch (status) {
    case 408:
      return "the request's body takes too long";
    case 413:
      return "the request's body is too large";
    case 414:
      return "the request's path is too long";
    default:
      return "the request is no HTTP that this server understands";
  }
}

}  // namespace

class HttpServer::Impl : private httplib::Server {
 public:
  Impl(const HttpLimits& limits, HttpHandlers handlers) : handlers_(std::move(handlers)) {
    state_.limits = limits;
    new_task_queue = [this] { return new ConnectionThreads(state_.limits.connections, open_); };
    set_payload_max_length(limits.body_bytes);
    set_keep_alive_timeout(limits.idle.count());
    set_tcp_nodelay(true);
    set_socket_options([](socket_t socket) {  // without SO_REUSEPORT, by which two servers would share a port
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) { return admit(request, response); });
    for (const char* const path : {"/v1/completions", "/v1/chat/completions"})
      Post(path, [this](const httplib::Request& request, httplib::Response& response) { answer(request, response); });
    set_error_handler(httplib::Server::Handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      if (const int status = serving->connection->body_status(); status != 0 && response.status == 400)
        response.status = status;         // it was HTTP, as far as it came
      serving->connection->set_broken();  // what follows may be the rest of what was not understood
      response.set_header("Connection", "close");
      send(request, response,
           {.status = response.status, .body = ApiError(response.status, reason_of(response.status)).json()});
    }));
  }
  ~Impl() override {
    stop_listening();
    abort();
    if (thread_.joinable()) thread_.join();
  }

  int listen(const std::string& host, int port) {
    errno = 0;
    const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
    if (bound <= 0)
      throw UsageError("SERVE-02", fmt::format("cannot listen on {} port {}{}; choose another --port, or 0 for any "
                                               "that is free, or another --host",
                                               host, port, errno ? fmt::format(": {}", std::strerror(errno)) : ""));
    ::listen(svr_sock_, 128);
    listening_ = true;
    start_without_signals();
    return bound;
  }
  bool listening() const { return listening_; }
  void stop_listening() {
    state_.stopping = true;
    if (!thread_.joinable()) return;
    while (listening_ && !is_running()) std::this_thread::yield();
    const Clock::time_point until = Clock::now() + longest_beginning;
    while (beginning_ > 0 && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop();
  }
  std::int64_t connections() const { return open_; }
  std::int64_t answering() const { return answering_; }
  void abort() { state_.aborted = true; }

 private:
  /// Signals are for the thread that waits for them.
  void start_without_signals() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
      listen_after_bind();
      listening_ = false;
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, state_);
    if (!places) return refuse(connection, 503, "too many connections at once; try again later");
    const Place place(*places);
    Serving current{&connection};
    serving = &current;
    for (bool ends = false; !ends;) {
      switch (connection.read_head()) {
        case Connection::Head::none:
          return true;
        case Connection::Head::too_slow:
          return refuse(connection, 408, "the request's head takes too long");
        case Connection::Head::too_large:
          return refuse(connection, 431, "the request's head is too large");
        case Connection::Head::complete:
          break;
      }
      current.begin = Clock::now();
      connection.bound_writing(state_.limits.body + state_.limits.stalled_write);  // of what is answered at once
      ConnectionStream stream(connection);
      const bool goes_on = process_request(stream, state_.stopping, ends, nullptr);
      current.answering.reset();
      ends = ends || !goes_on || connection.broken() || state_.stopping;
    }
    return true;
  }
  bool refuse(Connection& connection, int status, const std::string& reason) {
    const std::string body = ApiError(status, reason).json();
    connection.bound_writing(state_.limits.stalled_write);
    connection.write_all(
        fmt::format("HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
                    "Connection: close\r\n\r\n{}",
                    status, httplib_reason(status), body.size(), body));
    connection.set_broken();
    handlers_.log(fmt::format("- - {}", status));
    return false;
  }
  static const char* httplib_reason(int status) {
    return status == 503   ? "Service Unavailable"
           : status == 408 ? "Request Timeout"
                           : "Request Header Fields Too Large";
  }

  static HttpRequest plain(const httplib::Request& request) {
    const auto ask = [connection = serving->connection, is_known = request.version == "HTTP/1.1"] {
      return is_known && connection->write_all(interim_response);  // HTTP/1.0 knows of none
    };
    HttpRequest all{.method = request.method,
                    .path = request.path,
                    .body = request.body,
                    .authorization = request.get_header_value("Authorization"),
                    .client_is_gone = [connection = serving->connection, ask] { return connection->is_gone(ask); }};
    for (std::size_t i = 0; i < request.get_header_value_count("Host"); ++i)
      all.hosts.push_back(request.get_header_value("Host", i));
    return all;
  }
  template <class Handle> HttpReply guarded(const Handle& handle) const {
    try {
      return handle();
    } catch (const ApiError& error) {
      return {.status = error.status(), .body = error.json()};
    } catch (const std::exception& error) {
      return {.status = 500, .body = ApiError(500, error.what()).json()};
    }
  }
  HandlerResponse admit(const httplib::Request& request, httplib::Response& response) {
    HttpReply reply = guarded([&] {
      HttpReply early = handlers_.admit(plain(request));
      if (const std::string refused = refused_content(request); early.body.empty() && !refused.empty())
        throw ApiError(415, refused);
      return early;
    });
    if (reply.body.empty()) return HandlerResponse::Unhandled;
    if (has_body(request)) {  // which nobody will read
      serving->connection->set_broken();
      response.set_header("Connection", "close");
    }
    send(request, response, std::move(reply));
    return HandlerResponse::Handled;
  }
  /// One that takes all of its time has still some to be told so.
  void answer(const httplib::Request& request, httplib::Response& response) {
    serving->connection->bound_writing(state_.limits.request + state_.limits.stalled_write);
    serving->answering.emplace(answering_);
    send(request, response, guarded([&] {
           if (request.body.size() > state_.limits.body_bytes) throw ApiError(413, reason_of(413));
           return handlers_.answer(plain(request));
         }));
  }
  void send(const httplib::Request& request, httplib::Response& response, HttpReply reply) {
    if (reply.stream) return send_stream(request, response, std::move(reply));
    response.status = reply.status;
    response.set_content(reply.body, "application/json");
    log(request, reply.status);
  }
  /// Once it is stopped, the library ends streams without a word that it has not begun to ask for events. So it is
  /// stopped between none and its first event, and what comes later is refused.
  void send_stream(const httplib::Request& request, httplib::Response& response, HttpReply reply) {
    const auto beginning = std::make_shared<std::optional<Counted>>(std::in_place, beginning_);
    if (state_.stopping)
      return send(request, response, {.status = 503, .body = ApiError(503, "the server ends").json()});
    response.status = reply.status;
    const auto provide = [this, &request, beginning, status = reply.status,
                          stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
      beginning->reset();
      bool gone = false;
      const auto write = [&](std::string_view piece) {
        gone = gone || serving->connection->is_gone() || !sink.write(piece.data(), piece.size());
        return !gone;
      };
      stream({.write = write, .client_is_gone = [&] {
                gone = gone || serving->connection->is_gone([&] { return write(event_comment); });
                return gone;
              }});
      if (gone) serving->connection->set_broken();
      log(request, gone ? 499 : status);
      sink.done();
      return !gone;
    };
    response.set_header("Cache-Control", "no-cache");
    if (request.version == "HTTP/1.0")
      response.set_content_provider("text/event-stream", provide);
    else
      response.set_chunked_content_provider("text/event-stream", provide);
  }
  /// 499, as other servers write it: the client has gone before the end.
  void log(const httplib::Request& request, int status) const {
    const std::chrono::duration<double> seconds = Clock::now() - serving->begin;
    handlers_.log(fmt::format("{} {} {} {} {:.3f} s", request.remote_addr, printable(request.method),
                              printable(request.path), status, seconds.count()));
  }

  ConnectionState state_;
  HttpHandlers handlers_;
  std::atomic<std::int64_t> open_ = 0, answering_ = 0;
  std::atomic<std::int64_t> beginning_ = 0;  ///< streams before their first event
  std::atomic<bool> listening_ = false;
  std::thread thread_;
};

#else

namespace monomorph::train {

class HttpServer::Impl {
 public:
  Impl(const HttpLimits&, const HttpHandlers&) {
    throw UsageError("SERVE-01",
                     "this program was built without cpp-httplib, which serve needs; install "
                     "libcpp-httplib-dev, configure and build again");
  }
  int listen(const std::string&, int) { return 0; }
  bool listening() const { return false; }
  void stop_listening() {}
  std::int64_t connections() const { return 0; }
  std::int64_t answering() const { return 0; }
  void abort() {}
};

#endif

HttpServer::HttpServer(const HttpLimits& limits, HttpHandlers handlers)
    : impl_(std::make_unique<Impl>(limits, std::move(handlers))) {}
HttpServer::~HttpServer() = default;
int HttpServer::listen(const std::string& host, int port) { return impl_->listen(host, port); }
bool HttpServer::listening() const { return impl_->listening(); }
void HttpServer::stop_listening() { impl_->stop_listening(); }
std::int64_t HttpServer::connections() const { return impl_->connections(); }
std::int64_t HttpServer::answering() const { return impl_->answering(); }
void HttpServer::abort() { impl_->abort(); }

}  // namespace monomorph::train
