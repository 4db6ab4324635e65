#include <monomorph/data/text/piece_trie.hpp>

#include <algorithm>

namespace monomorph::data {

/// Lays the nodes out. Free cells form a ring through cell 0, so that a node with one child, as most are, finds its
/// place at once; the others try a few free cells, then the last block, then get a block of their own.
class PieceTrie::Builder {
 public:
  explicit Builder(PieceTrie& trie) : cells_(trie.cells_) {
    add_block();
    cell(0).parent = no_parent;
  }

  void add(const std::vector<Entry>& sorted) {
    struct Range {
      std::int32_t node;
      std::size_t depth, begin, end;
    };
    std::vector<Range> pending{{0, 0, 0, sorted.size()}};
    std::vector<Range> children;
    while (!pending.empty()) {
      auto [node, depth, begin, end] = pending.back();
      pending.pop_back();
      for (; begin < end && sorted[begin].first.size() == depth; ++begin) {
        if (depth > 0) cell(node).value = sorted[begin].second;
      }
      labels_.clear();
      children.clear();
      while (begin < end) {
        const char label = sorted[begin].first[depth];
        std::size_t next = begin + 1;
        while (next < end && sorted[next].first[depth] == label) ++next;
        labels_.push_back(static_cast<unsigned char>(label));
        children.push_back({0, depth + 1, begin, next});
        begin = next;
      }
      if (labels_.empty()) continue;
      const std::int32_t base = find_base();
      cell(node).base = base;
      for (std::size_t i = 0; i < labels_.size(); ++i) {
        children[i].node = base ^ labels_[i];
        take(children[i].node, node);
      }
      pending.insert(pending.end(), children.rbegin(), children.rend());
    }
  }

 private:
  static constexpr std::int32_t free = -1, no_parent = -2;
  struct Neighbours {
    std::int32_t previous = 0, next = 0;
  };

  Cell& cell(std::int32_t index) { return cells_[static_cast<std::size_t>(index)]; }
  Neighbours& free_cell(std::int32_t index) { return free_cells_[static_cast<std::size_t>(index)]; }

  void add_block() {
    const auto begin = static_cast<std::int32_t>(cells_.size());
    cells_.resize(cells_.size() + 256);
    free_cells_.resize(cells_.size());
    for (std::int32_t index = begin; index < begin + 256; ++index) {
      if (index == 0) continue;  // the root, and the ring's fixed point
      const std::int32_t last = free_cell(0).previous;
      free_cell(index) = {last, 0};
      free_cell(last).next = index;
      free_cell(0).previous = index;
    }
  }

  void take(std::int32_t index, std::int32_t parent) {
    cell(index).parent = parent;
    const auto [previous, next] = free_cell(index);
    free_cell(previous).next = next;
    free_cell(next).previous = previous;
  }

  bool fits(std::int32_t base) {
    return std::all_of(labels_.begin(), labels_.end(),
                       [&](unsigned char label) { return cell(base ^ label).parent == free; });
  }

  std::int32_t find_base() {
    constexpr int most_tries = 32;
    std::int32_t candidate = free_cell(0).next;
    for (int i = 0; i < most_tries && candidate != 0; ++i, candidate = free_cell(candidate).next) {
      if (fits(candidate ^ labels_[0])) return candidate ^ labels_[0];
    }
    const auto last_block = static_cast<std::int32_t>(cells_.size()) - 256;
    for (std::int32_t base = last_block; base < last_block + 256; ++base) {
      if (fits(base)) return base;
    }
    add_block();
    return last_block + 256;
  }

  std::vector<Cell>& cells_;
  std::vector<Neighbours> free_cells_;
  std::vector<unsigned char> labels_;
};

PieceTrie::PieceTrie(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  Builder(*this).add(entries);
  for (const Entry& entry : entries) longest_ = std::max(longest_, entry.first.size());
}

std::int32_t PieceTrie::find(std::string_view text) const {
  std::int32_t node = 0;
  for (const char byte : text) {
    node = child(node, static_cast<unsigned char>(byte));
    if (node < 0) return -1;
  }
  return text.empty() ? -1 : cells_[static_cast<std::size_t>(node)].value;
}

}  // namespace monomorph::data
