#pragma once
#include "train/serve/http_server.hpp"

#include <atomic>
#include <functional>

namespace monomorph::train {

/// What all connections of a server have in common.
struct ConnectionState {
  HttpLimits limits;
  std::atomic<bool> stopping = false;  ///< no new requests
  std::atomic<bool> aborted = false;   ///< nothing more is read or written
};

/// A client's socket, within limits. Owns the socket.
class Connection {
 public:
  enum class Head { complete, none, too_slow, too_large };

  Connection(int socket, const ConnectionState& state) : socket_(socket), state_(state) {}
  Connection(const Connection&) = delete;
  ~Connection();

  /// Waits for a request and reads its head, which `read` gives first then. `none`: the client has closed the
  /// connection, sends nothing more, or the server stops.
  Head read_head();
  /// Up to `size` bytes of the request; 0 at its end, -1 if a limit is reached or nothing more will come.
  long read(char* into, std::size_t size);
  /// From now on, until it is called again, what is written must be taken within this time, however steadily the client
  /// reads. Nothing can be written before.
  void bound_writing(std::chrono::seconds longest) { write_until_ = std::chrono::steady_clock::now() + longest; }
  /// How many bytes the socket has taken; -1 if none within the limits.
  long write(const char* from, std::size_t size);
  bool write_all(std::string_view text);
  /// Whether nothing that is written arrives any more: the connection was reset, or the server has ended it.
  bool is_gone() const;
  /// The same, found by asking. A client that has closed its side (TCP's half-closed connection) may wait for its
  /// answer all the same, or be gone: the two look alike until something is sent, which one that is gone answers with a
  /// reset. So such a client is sent something that it ignores, now and then.
  /// @param ask sends that; false if nothing can be sent, and then a closed side counts as gone
  bool is_gone(const std::function<bool()>& ask);
  bool is_readable() const;
  /// A limit was reached, or a body was left unread: what follows cannot be told from it.
  bool broken() const { return broken_; }
  void set_broken() { broken_ = true; }
  /// Why the body of the request has no end: 408 it came too slowly, 413 it is too large; 0 if neither is so.
  int body_status() const { return body_status_; }
  int socket() const { return socket_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  bool wait(short events, Time until, bool ends_when_stopping) const;
  bool is_half_closed() const;

  int socket_;
  const ConnectionState& state_;
  std::string buffer_;          ///< read from the socket, and not by anyone
  std::size_t taken_ = 0;       ///< of it, what read() has given
  std::size_t left_bytes_ = 0;  ///< that a request may still have
  Time body_until_, write_until_{};
  Time ask_again_{};  ///< whether a client that has closed its side is gone
  bool broken_ = false;
  int body_status_ = 0;
};

}  // namespace monomorph::train
