#include "data/formats/tokens_hash.hpp"
#include "unit/data/data_test_support.hpp"

#include <algorithm>
#include <vector>

using monomorph::data::TokensHash;

namespace {

/// Hands the bytes over in pieces of odd sizes.
std::uint64_t hash_in_pieces(std::span<const std::byte> bytes) {
  TokensHash hash;
  for (std::size_t at = 0, size = 1; at < bytes.size(); at += size, size = size * 3 % 7'654'321 + 1) {
    hash.update(bytes.subspan(at, std::min(size, bytes.size() - at)));
  }
  return hash.digest();
}

}  // namespace

TEST_CASE("Small sets are hashed whole, large ones at the beginning of every MiB") {
  const std::string small = "packed";
  CHECK(hash_in_pieces(bytes_of(small)) == monomorph::xxh64(bytes_of(small)));
  std::vector<std::byte> large((std::size_t{257} << 20) + 5000);
  for (std::size_t at = 0; at < large.size(); ++at) large[at] = static_cast<std::byte>(at >> 20);
  const std::uint64_t expected = 0xd19db29d22e7d67a;  // by the xxhash package of Python
  CHECK(TokensHash::of(large) == expected);
  CHECK(hash_in_pieces(large) == expected);
  large[(std::size_t{100} << 20) + 5000] ^= std::byte{1};  // between the parts
  CHECK(TokensHash::of(large) == expected);
  large[(std::size_t{100} << 20) + 4000] ^= std::byte{1};
  CHECK(TokensHash::of(large) != expected);
}
