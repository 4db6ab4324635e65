#include "train/tasks/python_random.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace monomorph::train {
namespace {

constexpr std::size_t words = 624, distance = 397;

/// The least table of a set of n for Python's choice between a set and a list.
std::size_t table_size(std::size_t n) {
  std::size_t size = 1;
  while (size < 3 * n) size *= 4;
  return size;
}

}  // namespace

PythonRandom::PythonRandom(std::uint32_t seed) {
  state_[0] = 19650218;
  for (std::size_t i = 1; i < words; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  std::size_t i = 1;
  const auto mix = [&](std::uint32_t factor) {
    const std::uint32_t mixed = (state_[i - 1] ^ (state_[i - 1] >> 30)) * factor;
    return state_[i] ^ mixed;
  };
  const auto advance = [&] {
    if (++i == words) state_[0] = state_[words - 1], i = 1;
  };
  for (std::size_t k = 0; k < words; ++k) state_[i] = mix(1664525u) + seed, advance();
  for (std::size_t k = 1; k < words; ++k) state_[i] = mix(1566083941u) - static_cast<std::uint32_t>(i), advance();
  state_[0] = 0x80000000u;
}

std::uint32_t PythonRandom::next() {
  if (at_ == words) {
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % words] & 0x7fffffffu);
      state_[i] = state_[(i + distance) % words] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  std::uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::size_t PythonRandom::below(std::size_t bound) {
  const int bits = std::bit_width(bound);
  std::size_t drawn = 0;
  do drawn = next() >> (32 - bits);
  while (drawn >= bound);
  return drawn;
}

std::vector<std::size_t> PythonRandom::sample(std::size_t size, std::size_t n) {
  std::vector<std::size_t> result;
  if (size <= 21 + (n > 5 ? table_size(n) : 0)) {
    std::vector<std::size_t> pool(size);
    std::iota(pool.begin(), pool.end(), std::size_t{0});
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t drawn = below(size - i);
      result.push_back(pool[drawn]);
      pool[drawn] = pool[size - i - 1];
    }
    return result;
  }
  std::unordered_set<std::size_t> drawn;
  while (result.size() < n)
    if (const std::size_t next = below(size); drawn.insert(next).second) result.push_back(next);
  return result;
}

}  // namespace monomorph::train
