#include "train/serve/loopback_hosts.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>

#include <algorithm>
#include <memory>

namespace monomorph::train {
namespace {

bool is_loopback(const sockaddr* address) {
  constexpr std::uint8_t loopback = 127;
  if (address->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == loopback;
  if (address->sa_family != AF_INET6) return false;
  const in6_addr& in = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&in) || (IN6_IS_ADDR_V4MAPPED(&in) && in.s6_addr[12] == loopback);
}

/// Of a name with several addresses, the server listens to one.
bool all_are_loopback(const std::string& name) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
    if (!is_loopback(one->ai_addr)) return false;
  return true;
}

bool is_port(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Without the port, and without the brackets of an IPv6 address; nothing if it is no host.
std::optional<std::string_view> without_port(std::string_view host) {
  const bool in_brackets = host.starts_with('[');
  const std::size_t end = host.find(in_brackets ? ']' : ':');
  if (end == std::string_view::npos) return in_brackets ? std::nullopt : std::optional(host);
  const std::string_view behind = host.substr(in_brackets ? end + 1 : end);
  if (!behind.empty() && (!behind.starts_with(':') || !is_port(behind.substr(1)))) return std::nullopt;
  return host.substr(in_brackets ? 1 : 0, in_brackets ? end - 1 : end);
}

bool equal_without_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::optional<LoopbackHosts> LoopbackHosts::of(const std::string& address) {
  if (!all_are_loopback(address)) return std::nullopt;
  return LoopbackHosts(address);
}

bool LoopbackHosts::have(std::string_view host) const {
  const auto name = without_port(host);
  return name && std::ranges::any_of(std::initializer_list<std::string_view>{"localhost", "127.0.0.1", "::1", address_},
                                     [&](std::string_view known) { return equal_without_case(*name, known); });
}

}  // namespace monomorph::train
