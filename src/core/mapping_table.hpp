#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace monomorph {

/// The files that are mapped, in a form that a signal handler can look into: no locks, and no memory that moves. What
/// finds no room in it is treated as if it were no file of ours.
class MappingTable {
 public:
  static void add(std::span<const std::byte> bytes, const std::string& path) noexcept;
  static void remove(std::span<const std::byte> bytes) noexcept;

  struct Mapping {
    std::span<const std::byte> bytes;
    const char* path;  ///< perhaps its beginning only
  };
  /// The mapping that an address lies in. For signal handlers, too.
  static std::optional<Mapping> find(const void* address) noexcept;
};

}  // namespace monomorph
