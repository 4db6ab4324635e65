#include <monomorph/data/bpe/word_counts.hpp>

namespace monomorph::data {

void WordCounts::add_all(const WordCounts& other) {
  for (const Slot& slot : other.slots_) {
    if (slot.count > 0) add(slot.word, slot.count);
  }
  for (const auto& [word, count] : other.long_words_) long_words_[word] += count;
}

void WordCounts::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  --shift_;
  for (const Slot& slot : old) {
    if (slot.count > 0) slot_of(slot.word) = slot;
  }
}

}  // namespace monomorph::data
