#pragma once
#include <optional>
#include <string>

namespace monomorph::distributed {

/// The address that this machine has towards a host, as the routing table says; nothing is sent. Absent if the host is
/// not known, or has no route.
std::optional<std::string> address_towards(const std::string& host);

}  // namespace monomorph::distributed
