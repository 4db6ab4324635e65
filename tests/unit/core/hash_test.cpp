#include "support/bytes_of.hpp"
#include "support/catch.hpp"

#include <monomorph/core/hash.hpp>
#include <monomorph/core/xxh64.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

using namespace monomorph;
using monomorph::testing::bytes_of;

std::uint64_t seeded(std::span<const std::byte> bytes, std::uint64_t seed) {
  Xxh64 hash(seed);
  hash.update(bytes);
  return hash.digest();
}

std::vector<std::byte> pattern(std::size_t n_bytes) {
  std::vector<std::byte> bytes(n_bytes);
  for (std::size_t i = 0; i < n_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

}  // namespace

TEST_CASE("FNV-1a gives the values of its authors' test suite, at compile time") {
  STATIC_REQUIRE(fnv1a_64("") == 0xcbf29ce484222325u);
  STATIC_REQUIRE(fnv1a_64("a") == 0xaf63dc4c8601ec8cu);
  STATIC_REQUIRE(fnv1a_64("foobar") == 0x85944171f73967e8u);
  STATIC_REQUIRE(fnv1a_64("bar", fnv1a_64("foo")) == fnv1a_64("foobar"));
  STATIC_REQUIRE(fnv1a_64("\xff") == (0xcbf29ce484222325u ^ 0xffu) * 0x100000001b3u);
}

TEST_CASE("XXH64 gives published values") {
  CHECK(xxh64({}) == 0xef46db3751d8e999u);
  CHECK(xxh64(bytes_of("a")) == 0xd24ec4f1a98c6e5bu);
  CHECK(xxh64(bytes_of("abc")) == 0x44bc2cf5ad770999u);
  CHECK(xxh64(bytes_of("Nobody inspects the spammish repetition")) == 0xfbcea83c8a378bf1u);
  CHECK(seeded(bytes_of("xxhash"), 20141025) == 0xb559b98d844e0635u);
}

TEST_CASE("XXH64 agrees with the xxhash package of Python at every path's boundary") {
  struct Row {
    std::size_t n_bytes;
    std::uint64_t unseeded, seeded;
  };
  const std::vector<Row> rows{
      {1, 0x1f25c8d0bc1f4bb6u, 0x79cf94f5ace37fe1u},   {4, 0x9bb64b7d66ee9fdau, 0x4a862fbb4b73776eu},
      {7, 0x9a7b149959ce60d8u, 0xddc5cf71d37a6368u},   {8, 0xdab99d95c6f90092u, 0xc6e75e2cbd8e07eeu},
      {12, 0xd52e407833af5133u, 0x79b0b158fab0e5d6u},  {31, 0xa2aa5f33cc4a6119u, 0x381822f33376d6b6u},
      {32, 0x23c3c17ef790fd97u, 0x9abd315470ac276au},  {33, 0x50a7cfc7ba588784u, 0x72cdd3262f467933u},
      {63, 0x5e3e54b431c7493cu, 0x634da7d265979e61u},  {64, 0x0eb64b3ef6eeb01fu, 0xbcb3847d70525180u},
      {100, 0xa61f8d4c170fe531u, 0x86f549ede5ac87e2u}, {255, 0x39ae55a29989206fu, 0xb1d1fdfffb7077cbu},
      {300, 0x240004dbee0ba6dcu, 0x288c1777f9ffbca4u}};
  const std::vector<std::byte> bytes = pattern(300);
  for (const Row& row : rows) {
    CAPTURE(row.n_bytes);
    CHECK(xxh64(std::span(bytes).first(row.n_bytes)) == row.unseeded);
    CHECK(seeded(std::span(bytes).first(row.n_bytes), 2654435761u) == row.seeded);
  }
}

TEST_CASE("XXH64 does not depend on how the bytes are cut, and can be asked in between") {
  const std::vector<std::byte> bytes = pattern(300);
  for (std::size_t piece = 1; piece <= 70; ++piece) {
    Xxh64 hash;
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      CHECK(hash.digest() == xxh64(std::span(bytes).first(begin)));
      hash.update(std::span(bytes).subspan(begin, std::min(piece, bytes.size() - begin)));
    }
    CHECK(hash.digest() == 0x240004dbee0ba6dcu);
  }
}
