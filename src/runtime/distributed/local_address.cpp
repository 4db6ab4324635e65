#include "runtime/distributed/local_address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

namespace monomorph::distributed {
namespace {

/// The address from which a datagram to `to` would go.
std::optional<std::string> source_of(const addrinfo& to) {
  const int socket = ::socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return std::nullopt;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[INET6_ADDRSTRLEN] = "";
  const bool found =
      ::connect(socket, to.ai_addr, to.ai_addrlen) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      ::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0;
  ::close(socket);
  return found ? std::optional<std::string>(text) : std::nullopt;
}

}  // namespace

std::optional<std::string> address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), "9", &hints, &list) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, ::freeaddrinfo);
  for (const addrinfo* to = list; to != nullptr; to = to->ai_next)
    if (auto address = source_of(*to)) return address;
  return std::nullopt;
}

}  // namespace monomorph::distributed
