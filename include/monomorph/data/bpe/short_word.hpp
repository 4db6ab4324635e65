#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace monomorph::data {

/// A word of up to 15 bytes as two numbers: its bytes, zeros and, in the last byte, its length.
struct ShortWord {
  static constexpr std::size_t most_bytes = 15;
  std::uint64_t low, high;

  /// Reads 16 bytes, whatever the length.
  static ShortWord from_padded(const char* bytes, std::size_t length) {
    std::uint64_t halves[2];
    std::memcpy(halves, bytes, 16);
    return {halves[0] & low_masks[length], (halves[1] & high_masks[length]) | std::uint64_t{length} << 56};
  }

  /// The word of `length` bytes at `begin`, in a text that ends at `text_end`.
  static ShortWord from(const char* begin, std::size_t length, const char* text_end) {
    if (text_end - begin >= 16) return from_padded(begin, length);
    char padded[16] = {};
    std::memcpy(padded, begin, length);
    return from_padded(padded, length);
  }

  /// A hash of the word: all its bits depend on all bits of the word, and the highest are mixed best.
  std::uint64_t hash() const {
    const std::uint64_t mixed = (low * 0x9E3779B97F4A7C15u) ^ (high * 0xC2B2AE3D27D4EB4Fu);
    return (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
  }
  std::size_t length() const { return high >> 56; }

  friend bool operator==(const ShortWord&, const ShortWord&) = default;

 private:
  // The first n bytes in memory are the n lowest: little-endian, as all that this runs on.
  static constexpr std::array<std::uint64_t, 16> masks(std::size_t first) {
    std::array<std::uint64_t, 16> result{};
    for (std::size_t length = 0; length < 16; ++length) {
      for (std::size_t i = 0; i < 8; ++i) result[length] |= first + i < length ? std::uint64_t{0xFF} << 8 * i : 0;
    }
    return result;
  }
  static const std::array<std::uint64_t, 16> low_masks, high_masks;
};

inline constexpr std::array<std::uint64_t, 16> ShortWord::low_masks = ShortWord::masks(0);
inline constexpr std::array<std::uint64_t, 16> ShortWord::high_masks = ShortWord::masks(8);

}  // namespace monomorph::data
