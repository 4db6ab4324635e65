#pragma once
#include <monomorph/data/text/character_class.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace monomorph::data {

/// Some classes of characters: their bits.
using CharacterSet = std::uint8_t;

template <class... Classes> constexpr CharacterSet set_of(Classes... classes) {
  return static_cast<CharacterSet>((0 | ... | static_cast<unsigned>(classes)));
}

constexpr CharacterSet letters = set_of(CharacterClass::uppercase, CharacterClass::lowercase, CharacterClass::caseless);
constexpr CharacterSet numbers = set_of(CharacterClass::number);
constexpr CharacterSet newlines = set_of(CharacterClass::newline);
constexpr CharacterSet white_space = set_of(CharacterClass::space, CharacterClass::newline);
constexpr CharacterSet punctuation = set_of(CharacterClass::other, CharacterClass::mark);

/// The classes of all characters in two steps: code_point / 256 names a block. Blocks that are alike are kept once.
class CharacterTable {
 public:
  CharacterSet operator[](char32_t code_point) const { return blocks_[blocks_of_[code_point >> 8]][code_point & 0xFF]; }
  const std::array<CharacterSet, 256>& first_block() const { return blocks_[0]; }

  static const CharacterTable& instance();

 private:
  static constexpr std::size_t most_blocks = 256;
  CharacterTable();
  std::array<std::uint8_t, 0x1100> blocks_of_{};
  std::array<std::array<CharacterSet, 256>, most_blocks> blocks_{};
};

/// Reads the characters of a text that is valid UTF-8, and notes when it meets the text's end.
class TextScanner {
 public:
  struct Character {
    CharacterSet set;  ///< one bit; none at the end
    std::uint8_t n_bytes;
  };

  explicit TextScanner(const char* end) : end_(end), table_(CharacterTable::instance()) {}

  const char* end() const { return end_; }
  bool met_end() const { return met_end_; }
  void forget_end() { met_end_ = false; }

  Character at(const char* position) {
    if (position == end_) {
      met_end_ = true;
      return {0, 0};
    }
    const auto byte = static_cast<unsigned char>(*position);
    if (byte < 0x80) return {table_.first_block()[byte], 1};
    return beyond_ascii(position);
  }

  /// The byte at `position`, 0 at the end.
  char byte_at(const char* position) {
    if (position < end_) return *position;
    met_end_ = true;
    return 0;
  }

  /// The end of the run of characters of `set` that starts at `position`.
  const char* run_end(const char* position, CharacterSet set) {
    for (;;) {
      const Character next = at(position);
      if (!(next.set & set)) return position;
      position += next.n_bytes;
    }
  }

  /// As run_end with all letters, many at a time.
  const char* letters_end(const char* position) {
    while (end_ - position >= 16) {
      const unsigned others = ascii_non_letters(position);
      if (others == 0) {
        position += 16;
        continue;
      }
      position += std::countr_zero(others);
      if (static_cast<unsigned char>(*position) < 0x80) return position;
      const Character next = beyond_ascii(position);
      if (!(next.set & letters)) return position;
      position += next.n_bytes;
    }
    return run_end(position, letters);
  }

 private:
  Character beyond_ascii(const char* position) const {
    const auto byte = [position](int i) { return static_cast<char32_t>(static_cast<unsigned char>(position[i])); };
    if (byte(0) < 0xE0) return {table_[(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F)], 2};
    if (byte(0) < 0xF0) return {table_[(byte(0) & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)], 3};
    return {table_[(byte(0) & 7) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)], 4};
  }

  /// A bit for each of 16 bytes that is no ASCII letter.
  static unsigned ascii_non_letters(const char* position) {
#ifdef __SSE2__
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(position));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i shifted = _mm_add_epi8(lower, _mm_set1_epi8(static_cast<char>(0x80 - 'a')));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpgt_epi8(shifted, _mm_set1_epi8(-128 + 25))));
#else
    unsigned result = 0;
    for (int i = 0; i < 16; ++i) {
      const unsigned lower = static_cast<unsigned char>(position[i]) | 0x20u;
      result |= static_cast<unsigned>(lower - 'a' > 25u) << i;
    }
    return result;
#endif
  }

  const char* end_;
  const CharacterTable& table_;
  bool met_end_ = false;
};

}  // namespace monomorph::data
