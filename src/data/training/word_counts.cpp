#include <monomorph/data/word_counts.hpp>

#include <functional>

namespace monomorph::data {

void WordCounts::add(std::string_view word, std::int64_t count) {
  const std::uint64_t hash = std::hash<std::string_view>{}(word);
  std::size_t index = hash & (slots_.size() - 1);
  while (slots_[index].count > 0) {
    Slot& slot = slots_[index];
    if (slot.hash == hash && word_of(slot) == word) {
      slot.count += count;
      return;
    }
    index = (index + 1) & (slots_.size() - 1);
  }
  slots_[index] = {hash, bytes_.size(), word.size(), count};
  bytes_.append(word);
  if (2 * ++n_words_ > slots_.size()) grow();
}

void WordCounts::add_all(const WordCounts& other) {
  other.for_each([this](std::string_view word, std::int64_t count) { add(word, count); });
}

void WordCounts::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.count == 0) continue;
    std::size_t index = slot.hash & (slots_.size() - 1);
    while (slots_[index].count > 0) index = (index + 1) & (slots_.size() - 1);
    slots_[index] = slot;
  }
}

}  // namespace monomorph::data
