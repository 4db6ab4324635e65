#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What bounds each connection, whoever is at its other end.
struct HttpLimits {
  std::int64_t connections = 64;  ///< at a time; others are told so and closed
  std::size_t body_bytes = std::size_t{1} << 20;
  std::chrono::seconds idle{30};            ///< between two requests
  std::chrono::seconds head{10}, body{30};  ///< for what a client sends
  std::chrono::seconds request{600};        ///< for an answer to be made and taken
  std::chrono::seconds stalled_write{10};   ///< a client takes nothing of its answer
};

struct HttpRequest {
  std::string method{}, path{}, body{};
  std::string authorization{};             ///< that header
  std::vector<std::string> hosts{};        ///< each header Host that there is
  std::function<bool()> client_is_gone{};  ///< while it waits for the whole answer
};

/// The way of a stream of server-sent events to its client.
struct EventStream {
  std::function<bool(std::string_view)> write;  ///< false if the client is gone
  std::function<bool()> client_is_gone;         ///< while there is nothing to write
};

struct HttpReply {
  int status = 200;
  std::string body{};                                ///< JSON
  std::function<void(const EventStream&)> stream{};  ///< writes events in the place of the body
};

struct HttpHandlers {
  /// Judges a request by all but its body, which is read only if this says nothing: a status from 400 refuses.
  std::function<HttpReply(const HttpRequest&)> admit;
  std::function<HttpReply(const HttpRequest&)> answer;
  /// Of every request that was answered: who, what, status, and how long it took.
  std::function<void(const std::string& line)> log;
};

/// HTTP/1.1, with a thread for each connection, out of cpp-httplib. What it leaves without a bound is bounded here:
/// the time and size of a request's head, and connections (docs/why/serving.md).
class HttpServer {
 public:
  /// @throws UsageError [SERVE-01] built without cpp-httplib
  HttpServer(const HttpLimits& limits, HttpHandlers handlers);
  ~HttpServer();

  /// @return the port, for port 0 the one that the system chose   @throws UsageError [SERVE-02]
  int listen(const std::string& host, int port);
  /// Whether it still listens: false after stop_listening(), and if the system no longer lets it.
  bool listening() const;
  /// Takes no new connection or request; what is being answered goes on, but a stream that has not begun is refused.
  void stop_listening();
  /// Connections that are open.
  std::int64_t connections() const;
  /// Requests that have arrived whole, and whose answers are not written yet.
  std::int64_t answering() const;
  /// Ends all that is being read or written.
  void abort();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace monomorph::train
