#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace monomorph {

/// What this process may hold in memory, bytes; the greatest number where the system does not say.
struct MachineMemory {
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest = unknown;    ///< memory and swap of the machine, or of the control group if that is less
  std::int64_t available = unknown;  ///< without swapping, as things are now
};

/// Of /proc/meminfo and of every control group (version 1 or 2) that this process is in.
/// @param root what stands for `/`, for tests
MachineMemory machine_memory(const std::string& root = "");

}  // namespace monomorph
