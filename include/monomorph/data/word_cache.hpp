#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

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

  static ShortWord from(const char* bytes, std::size_t length) {
    char padded[16] = {};
    std::memcpy(padded, bytes, length);
    return from_padded(padded, length);
  }

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

/// The ids of short words that were met lately. Grows to 4 MiB; after that, of the words that share a place the one
/// that was added first gives way.
class ShortWordCache {
 public:
  static constexpr std::size_t most_ids = 3;  ///< words of more ids are not kept

  struct Entry {
    ShortWord word{};                              // of length 0: none
    std::array<std::int32_t, most_ids + 1> ids{};  // the last is how many there are
    std::size_t n_ids() const { return static_cast<std::size_t>(ids[most_ids]); }
  };

  /// Where a word is, if it is known: two lines of the processor's cache, of which the first has the words in use.
  struct alignas(128) Bucket {
    static constexpr std::size_t n_entries = 4;
    Entry entries[n_entries];

    const Entry* find(const ShortWord& word) {
      if (entries[0].word == word) return &entries[0];
      if (entries[1].word == word) return &entries[1];
      for (std::size_t i = 2; i < n_entries; ++i) {
        if (!(entries[i].word == word)) continue;
        std::swap(entries[0], entries[i]);
        return &entries[0];
      }
      return nullptr;
    }

    void add(const Entry& entry) {
      std::copy_backward(entries, entries + n_entries - 1, entries + n_entries);
      entries[0] = entry;
    }
  };

  /// Stays good until make_room().
  Bucket& bucket_of(const ShortWord& word) { return buckets_[hash_of(word) >> shift_]; }

  void add(Bucket& bucket, const ShortWord& word, std::span<const std::int32_t> ids) {
    if (ids.size() > most_ids) return;
    Entry entry{word, {}};
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
    entry.ids[most_ids] = static_cast<std::int32_t>(ids.size());
    bucket.add(entry);
    ++n_added_;
  }

  /// To be called now and then: grows if many words were added.
  void make_room() {
    if (n_added_ < 2 * buckets_.size() || buckets_.size() == most_buckets) return;
    std::vector<Bucket> old(4 * buckets_.size());
    old.swap(buckets_);
    shift_ -= 2;
    for (const Bucket& bucket : old) {
      for (std::size_t i = Bucket::n_entries; i-- > 0;) {
        const Entry& entry = bucket.entries[i];
        if (entry.n_ids() > 0) bucket_of(entry.word).add(entry);
      }
    }
  }

 private:
  static constexpr unsigned least_bits = 9;
  static constexpr std::size_t most_buckets = std::size_t{1} << 15;

  static std::uint64_t hash_of(const ShortWord& word) {
    const std::uint64_t hash = (word.low * 0x9E3779B97F4A7C15u) ^ (word.high * 0xC2B2AE3D27D4EB4Fu);
    return (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u;
  }

  std::vector<Bucket> buckets_ = std::vector<Bucket>(std::size_t{1} << least_bits);
  unsigned shift_ = 64 - least_bits;
  std::size_t n_added_ = 0;
};

}  // namespace monomorph::data
