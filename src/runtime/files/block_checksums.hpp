#pragma once
#include <monomorph/core/xxh64.hpp>

#include <cstdint>
#include <vector>

namespace monomorph::runtime {

/// XXH64 of every block of a file that comes in pieces, so that a reader can check what it reads alone.
class BlockChecksums {
 public:
  static constexpr std::size_t block_bytes = std::size_t{4} << 20;

  void update(std::span<const std::byte> bytes);
  /// Ends the file. Its last block may be shorter than the others.
  std::vector<std::uint64_t> finish();
  std::uint64_t n_bytes() const { return n_bytes_; }

 private:
  std::vector<std::uint64_t> done_;
  Xxh64 block_;
  std::size_t n_in_block_ = 0;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace monomorph::runtime
