#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monomorph::data {

/// Two neighbouring token ids.
struct TokenPair {
  std::int32_t left, right;
  friend bool operator==(const TokenPair&, const TokenPair&) = default;
};

/// A hash table from pairs of token ids to values of a trivially copyable type; entries are never removed.
/// A pointer that it returns is good until the next insertion.
template <class Value> class PairTable {
 public:
  explicit PairTable(std::size_t n_expected = 0) {
    while (slots_.size() < 2 * n_expected + 16) slots_.resize(slots_.empty() ? 16 : 2 * slots_.size());
  }

  const Value* find(TokenPair pair) const {
    const Slot& slot = slots_[slot_of(pair)];
    return slot.pair == empty ? nullptr : &slot.value;
  }

  /// The value of `pair`, a default one if there was none.
  Value& operator[](TokenPair pair) {
    std::size_t index = slot_of(pair);
    if (slots_[index].pair == empty) {
      if (2 * ++size_ > slots_.size()) {
        grow();
        index = slot_of(pair);
      }
      slots_[index].pair = pair;
    }
    return slots_[index].value;
  }

  template <class Visit> void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (!(slot.pair == empty)) visit(slot.pair, slot.value);
    }
  }

 private:
  static constexpr TokenPair empty{-1, -1};
  struct Slot {
    TokenPair pair = empty;
    Value value{};
  };

  std::size_t slot_of(TokenPair pair) const {
    const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.left)) << 32 |
                              static_cast<std::uint32_t>(pair.right);
    const std::uint64_t hash = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    std::size_t index = (hash ^ hash >> 29) & (slots_.size() - 1);
    while (!(slots_[index].pair == empty) && !(slots_[index].pair == pair)) index = (index + 1) & (slots_.size() - 1);
    return index;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!(slot.pair == empty)) slots_[slot_of(slot.pair)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace monomorph::data
