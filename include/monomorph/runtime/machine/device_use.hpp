#pragma once
#include <cstdint>
#include <monomorph/core/process_memory.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <optional>
#include <string>

namespace monomorph {

/// What a rank computes on, and how much memory of it is in use.
struct DeviceUse {
  std::string gpu{};  ///< its name as the driver reports it: whose peak is in a table; empty of processors
  std::int64_t peak_memory_bytes = 0;
  std::optional<std::int64_t> free_memory_bytes{};  ///< now, of a device that has a memory of its own
  /// Names the table by which products are computed, if there is one: bits may differ with another table.
  std::int64_t product_table = 0;
};

namespace cpu {
/// Every device has this function.
inline DeviceUse device_use(Queue) { return {.peak_memory_bytes = peak_resident_bytes()}; }
}  // namespace cpu

}  // namespace monomorph
