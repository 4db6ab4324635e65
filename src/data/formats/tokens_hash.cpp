#include "data/formats/tokens_hash.hpp"

#include <algorithm>

namespace monomorph::data {

void TokensHash::update(std::span<const std::byte> bytes) {
  if (n_bytes_ + bytes.size() <= largest_whole) whole_.update(bytes);
  update_parts(bytes);
  n_bytes_ += bytes.size();
}

void TokensHash::update_parts(std::span<const std::byte> bytes) {
  for (std::uint64_t at = 0; at < bytes.size();) {
    const std::uint64_t in_stride = (n_bytes_ + at) % stride;
    const std::uint64_t size =
        std::min<std::uint64_t>((in_stride < part ? part : stride) - in_stride, bytes.size() - at);
    if (in_stride < part) parts_.update(bytes.subspan(at, size));
    at += size;
  }
}

std::uint64_t TokensHash::digest() const { return (n_bytes_ <= largest_whole ? whole_ : parts_).digest(); }

std::uint64_t TokensHash::of(std::span<const std::byte> data) {
  TokensHash hash;
  hash.update(data);
  return hash.digest();
}

}  // namespace monomorph::data
