#include "train/serve/connection.hpp"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace monomorph::train {
namespace {

constexpr std::size_t most_head_bytes = 16 << 10, most_lines = 100;
constexpr std::chrono::milliseconds longest_poll{100}, lingering{1000}, between_asks{1000};

/// Headers that ask for what there is not: parts of answers, and answers compressed. Nobody parses them then.
bool is_ignored(std::string_view line) {
  for (const std::string_view name : {"range:", "accept-encoding:"})
    if (line.size() >= name.size() && ::strncasecmp(line.data(), name.data(), name.size()) == 0) return true;
  return false;
}

/// @param head ends with an empty line
std::string without_ignored_lines(std::string_view head) {
  std::string kept;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n') + 1);
    if (!is_ignored(line)) kept += line;
    head.remove_prefix(line.size());
  }
  return kept;
}

/// Where the head in `text` ends; npos if it does not.
std::size_t end_of_head(std::string_view text) {
  const std::size_t usual = text.find("\r\n\r\n"), bare = text.find("\n\n");
  if (usual == std::string_view::npos && bare == std::string_view::npos) return std::string_view::npos;
  return usual < bare ? usual + 4 : bare + 2;
}

}  // namespace

/// The client may still be sending what was refused. To close at once would take the answer away from it.
Connection::~Connection() {
  ::shutdown(socket_, SHUT_WR);
  const Time until = std::chrono::steady_clock::now() + lingering;
  std::array<char, 1 << 14> scrap{};
  while (broken_ && wait(POLLIN, until, false) && ::recv(socket_, scrap.data(), scrap.size(), MSG_DONTWAIT) > 0) {
  }
  ::close(socket_);
}

bool Connection::wait(short events, Time until, bool ends_when_stopping) const {
  for (;;) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0 || state_.aborted || (ends_when_stopping && state_.stopping)) return false;
    const auto slice = std::min<std::chrono::nanoseconds>(left, longest_poll);
    pollfd waiting{socket_, events, 0};
    const int ready =
        ::poll(&waiting, 1, 1 + static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(slice).count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Connection::Head Connection::read_head() {
  const Time begin = std::chrono::steady_clock::now();
  Time until = begin + state_.limits.idle;
  buffer_.erase(0, taken_);
  taken_ = 0;
  for (bool waits = true;;) {
    if (const std::size_t first = buffer_.find_first_not_of("\r\n"); waits && first != std::string::npos) {
      buffer_.erase(0, first);
      until = std::chrono::steady_clock::now() + state_.limits.head;
      waits = false;
    }
    const std::size_t end = end_of_head(buffer_);
    if (!waits && end != std::string::npos) {
      const std::string_view head = std::string_view(buffer_).substr(0, end);
      if (end > most_head_bytes || std::ranges::count(head, '\n') > std::ptrdiff_t{most_lines}) return Head::too_large;
      buffer_ = without_ignored_lines(head) + buffer_.substr(end);
      left_bytes_ = most_head_bytes + 2 * state_.limits.body_bytes;  // chunks have sizes of their own between them
      body_until_ = std::chrono::steady_clock::now() + state_.limits.body;
      body_status_ = 0;
      return Head::complete;
    }
    if (buffer_.size() > most_head_bytes) return Head::too_large;
    std::array<char, 4096> piece{};
    if (!wait(POLLIN, until, waits)) return waits || state_.aborted ? Head::none : Head::too_slow;
    const ssize_t n = ::recv(socket_, piece.data(), piece.size(), 0);
    if (n <= 0) return Head::none;
    buffer_.append(piece.data(), static_cast<std::size_t>(n));
  }
}

long Connection::read(char* into, std::size_t size) {
  size = std::min(size, left_bytes_);
  if (size == 0) return body_status_ = 413, broken_ = true, -1;
  if (taken_ < buffer_.size()) {
    size = std::min(size, buffer_.size() - taken_);
    std::memcpy(into, buffer_.data() + taken_, size);
    taken_ += size;
  } else {
    if (!wait(POLLIN, body_until_, false)) return body_status_ = 408, broken_ = true, -1;
    const ssize_t n = ::recv(socket_, into, size, 0);
    if (n <= 0) return broken_ = true, n;
    size = static_cast<std::size_t>(n);
  }
  left_bytes_ -= size;
  return static_cast<long>(size);
}

long Connection::write(const char* from, std::size_t size) {
  const Time until = std::min(write_until_, std::chrono::steady_clock::now() + state_.limits.stalled_write);
  if (!wait(POLLOUT, until, false)) return broken_ = true, -1;
  const ssize_t n = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN) broken_ = true;
  return n < 0 && errno == EAGAIN ? 0 : n;
}

bool Connection::write_all(std::string_view text) {
  while (!text.empty()) {
    const long n = write(text.data(), text.size());
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Connection::is_gone() const {
  pollfd ended{socket_, 0, 0};  // POLLERR and POLLHUP, which are always told
  return state_.aborted || ::poll(&ended, 1, 0) > 0;
}

bool Connection::is_half_closed() const {
  pollfd closed{socket_, POLLRDHUP, 0};
  return ::poll(&closed, 1, 0) > 0;
}

bool Connection::is_gone(const std::function<bool()>& ask) {
  if (is_gone()) return true;
  const Time now = std::chrono::steady_clock::now();
  if (now < ask_again_ || !is_half_closed()) return false;
  ask_again_ = now + between_asks;
  return !ask();
}

bool Connection::is_readable() const {
  pollfd waiting{socket_, POLLIN, 0};
  return taken_ < buffer_.size() || ::poll(&waiting, 1, 0) > 0;
}

}  // namespace monomorph::train
