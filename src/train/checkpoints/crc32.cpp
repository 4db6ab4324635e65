#include "crc32.hpp"

#include <array>
#include <cstring>

namespace monomorph::train {
namespace {

constexpr std::size_t n_slices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, n_slices>;

/// Of slice s: what a byte does to the checksum that has s more bytes behind it, so that eight bytes are looked up
/// independently of each other.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB8'8320 : 0);
    tables[0][byte] = value;
  }
  for (std::size_t slice = 1; slice < n_slices; ++slice)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

void Crc32::update(std::span<const std::byte> bytes) {
  std::uint32_t state = state_;
  for (; bytes.size() >= n_slices; bytes = bytes.subspan(n_slices)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= state;
    state = 0;
    for (std::size_t i = 0; i < n_slices; ++i) state ^= tables[n_slices - 1 - i][word >> 8 * i & 0xFF];
  }
  for (const std::byte byte : bytes)
    state = (state >> 8) ^ tables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  state_ = state;
}

}  // namespace monomorph::train
