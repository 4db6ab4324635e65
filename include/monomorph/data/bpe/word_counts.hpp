#pragma once
#include <monomorph/data/bpe/short_word.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// How often each word appears.
class WordCounts {
 public:
  /// @param text_end the end of the text in which the word lies
  void add(std::string_view word, const char* text_end) {
    if (word.size() > ShortWord::most_bytes) {
      ++long_words_[std::string(word)];
    } else if (!word.empty()) {
      add(ShortWord::from(word.data(), word.size(), text_end), 1);
    }
  }
  void add_all(const WordCounts& other);

  /// Calls `visit` with each word and its count.
  template <class Visit> void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.count == 0) continue;
      char bytes[sizeof(ShortWord)];
      std::memcpy(bytes, &slot.word, sizeof(bytes));
      visit(std::string_view(bytes, slot.word.length()), slot.count);
    }
    for (const auto& [word, count] : long_words_) visit(std::string_view(word), count);
  }

 private:
  struct Slot {
    ShortWord word{};
    std::int64_t count = 0;  ///< 0: free
  };
  static constexpr unsigned least_bits = 10;

  void add(const ShortWord& word, std::int64_t count) {
    Slot& slot = slot_of(word);
    const bool is_new = slot.count == 0;
    slot.word = word;
    slot.count += count;
    if (is_new && 2 * ++n_short_words_ > slots_.size()) grow();
  }
  Slot& slot_of(const ShortWord& word) {
    std::size_t index = word.hash() >> shift_;
    while (slots_[index].count > 0 && !(slots_[index].word == word)) index = (index + 1) & (slots_.size() - 1);
    return slots_[index];
  }
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << least_bits);
  unsigned shift_ = 64 - least_bits;
  std::size_t n_short_words_ = 0;
  std::unordered_map<std::string, std::int64_t> long_words_;
};

}  // namespace monomorph::data
