#pragma once
#include <monomorph/data/bpe/short_word.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace monomorph::data {

/// The ids of short words that were met lately. Grows to a bound; after that, of the words that share a place the one
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

  static constexpr std::size_t usual_bytes = std::size_t{4} << 20;

  explicit ShortWordCache(std::size_t most_bytes = usual_bytes) : most_buckets_(most_bytes / sizeof(Bucket)) {}

  /// Stays good until make_room().
  Bucket& bucket_of(const ShortWord& word) { return buckets_[word.hash() >> shift_]; }

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
    if (n_added_ < 2 * buckets_.size() || 4 * buckets_.size() > most_buckets_) return;
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

  std::size_t most_buckets_;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(std::size_t{1} << least_bits);
  unsigned shift_ = 64 - least_bits;
  std::size_t n_added_ = 0;
};

}  // namespace monomorph::data
