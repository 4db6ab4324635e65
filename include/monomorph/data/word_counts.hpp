#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// How often each word appears.
class WordCounts {
 public:
  void add(std::string_view word, std::int64_t count = 1);
  void add_all(const WordCounts& other);

  std::size_t n_words() const { return n_words_; }

  /// Calls `visit` with each word and its count.
  template <class Visit> void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.count > 0) visit(word_of(slot), slot.count);
    }
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::size_t begin = 0;  ///< in bytes_
    std::size_t length = 0;
    std::int64_t count = 0;  ///< 0: free
  };

  std::string_view word_of(const Slot& slot) const { return std::string_view(bytes_).substr(slot.begin, slot.length); }
  void grow();

  std::string bytes_;  ///< all words, one after the other
  std::vector<Slot> slots_ = std::vector<Slot>(1 << 10);
  std::size_t n_words_ = 0;
};

}  // namespace monomorph::data
