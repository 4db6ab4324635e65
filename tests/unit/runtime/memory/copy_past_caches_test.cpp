#include "runtime/memory/copy_past_caches.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace monomorph;

TEST_CASE("a copy past the caches has the bytes of any length at any place, and leaves those beside it") {
  constexpr std::size_t room = (std::size_t{5} << 19) + 300;  // two and a half of the pieces that threads take
  std::vector<std::byte> from(room);
  std::uint32_t state = 1;
  for (std::byte& byte : from) byte = static_cast<std::byte>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  for (const std::size_t n :
       {0UL, 1UL, 15UL, 63UL, 64UL, 65UL, 200UL, (1UL << 20) - 1, 1UL << 20, (1UL << 20) + 77, 5UL << 19})
    for (const std::size_t shift : {0UL, 1UL, 16UL, 63UL, 100UL}) {
      CAPTURE(n, shift);
      constexpr std::byte untouched{0xA5};
      std::vector<std::byte> to(room, untouched), expected(room, untouched);
      std::copy_n(from.begin() + 3, n, expected.begin() + static_cast<std::ptrdiff_t>(shift));
      runtime::copy_past_caches(from.data() + 3, to.data() + shift, static_cast<std::int64_t>(n));
      CHECK((to == expected));
    }
}
