#pragma once
#include <monomorph/core/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace monomorph::data {

/// A hash of the data section of a packed file, taken in pieces as it is written: XXH64 of all of it up to 256 MB; of
/// what is larger, of the first 4 KiB of every MiB, so that opening a large set does not read it.
class TokensHash {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint64_t digest() const;

  /// The hash of a whole data section.
  static std::uint64_t of(std::span<const std::byte> data);

 private:
  static constexpr std::uint64_t largest_whole = std::uint64_t{256} << 20;
  static constexpr std::uint64_t stride = std::uint64_t{1} << 20;
  static constexpr std::uint64_t part = std::uint64_t{1} << 12;

  void update_parts(std::span<const std::byte> bytes);

  Xxh64 whole_, parts_;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace monomorph::data
