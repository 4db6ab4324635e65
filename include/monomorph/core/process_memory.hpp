#pragma once
#include <cstdint>
#include <string_view>

namespace monomorph {

/// The most memory this process has had resident so far (VmHWM), bytes. getrusage() would begin with the parent's.
std::int64_t peak_resident_bytes();

/// The memory this process has resident now (VmRSS), bytes.
std::int64_t resident_bytes();

/// The value of a "VmHWM:   123 kB" line of /proc/self/status text, bytes; 0 if there is none.
std::int64_t status_bytes(std::string_view status, std::string_view key);

}  // namespace monomorph
