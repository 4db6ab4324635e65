#include "block_checksums.hpp"

#include <algorithm>
#include <utility>

namespace monomorph::runtime {

void BlockChecksums::update(std::span<const std::byte> bytes) {
  n_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const auto taken = bytes.first(std::min(bytes.size(), block_bytes - n_in_block_));
    block_.update(taken);
    n_in_block_ += taken.size();
    bytes = bytes.subspan(taken.size());
    if (n_in_block_ < block_bytes) return;
    done_.push_back(std::exchange(block_, Xxh64()).digest());
    n_in_block_ = 0;
  }
}

std::vector<std::uint64_t> BlockChecksums::finish() {
  if (n_in_block_ > 0) done_.push_back(block_.digest());
  return std::move(done_);
}

}  // namespace monomorph::runtime
