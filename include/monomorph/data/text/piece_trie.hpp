#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data {

/// A set of byte strings, each with a number from 0 up, for finding those that a text starts with (a double array:
/// one step a byte). Immutable; threads may share one.
class PieceTrie {
 public:
  using Entry = std::pair<std::string_view, std::int32_t>;
  struct Match {
    std::size_t length = 0;  ///< in bytes; 0 if nothing matches
    std::int32_t value = -1;
  };

  /// Of equal strings the last one counts; empty ones are never found.
  explicit PieceTrie(std::vector<Entry> entries);

  /// Calls visit(Match) for every string that `text` starts with, the shortest first.
  template <class Visit> void for_each_prefix(std::string_view text, Visit visit) const {
    std::int32_t node = 0;
    for (std::size_t length = 0; length < text.size();) {
      node = child(node, static_cast<unsigned char>(text[length]));
      if (node < 0) return;
      ++length;
      const std::int32_t value = cells_[static_cast<std::size_t>(node)].value;
      if (value >= 0) visit(Match{length, value});
    }
  }

  Match longest_prefix(std::string_view text) const {
    Match longest;
    for_each_prefix(text, [&](Match match) { longest = match; });
    return longest;
  }

  /// The number of exactly `text`, or -1.
  std::int32_t find(std::string_view text) const;

  std::size_t longest() const { return longest_; }  ///< bytes of the longest string

 private:
  /// The children of a node lie where its `base`, combined by exclusive or with their byte, says.
  struct Cell {
    std::int32_t base = 0;
    std::int32_t parent = -1;  ///< -1: a free cell; -2: the root's
    std::int32_t value = -1;   ///< -1: no string ends here
  };
  class Builder;

  std::int32_t child(std::int32_t node, unsigned char byte) const {
    const std::int32_t index = cells_[static_cast<std::size_t>(node)].base ^ byte;
    return cells_[static_cast<std::size_t>(index)].parent == node ? index : -1;
  }

  std::vector<Cell> cells_;
  std::size_t longest_ = 0;
};

}  // namespace monomorph::data
