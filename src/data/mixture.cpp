#include <monomorph/core/error.hpp>
#include <monomorph/data/mixture.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace monomorph::data {
namespace {

__extension__ using Wide = unsigned __int128;

/// Weights become whole numbers of this sum, so that every machine computes the same.
constexpr double weight_sum = 0x1p52;
/// All trees of so many groups are looked at: 3^10 / 2 ways to split.
constexpr std::size_t most_compared = 10;

}  // namespace

// Handing on the m-th sample to the left if round(m w_left / w) grows at it makes an error of at most 1/2, and a child
// inherits its parent's error in proportion. A leaf v is so at most 1/2 sum of w_v / w_a away from its share, over v
// itself and those above it except the root. That is at most 1 if 1/w_a, summed over what is strictly between leaf and
// root, is at most 1/w_v: what is left of it is the `room` of a subtree, and the tree with the greatest is taken.
struct Mixture::Group {
  std::size_t node;
  double room;  ///< for 1/w_a of the nodes above
};

Mixture::Mixture(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight > 0) || !std::isfinite(weight)) sum = NAN;
    sum += weight;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    throw UsageError("[DATA-64] every set of a mixture must have a weight above 0; change the weights");
  std::vector<Group> groups;
  for (const double weight : weights) {
    const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::round(weight / sum * weight_sum)));
    groups.push_back({nodes_.size(), 1 / static_cast<double>(whole)});
    nodes_.push_back({whole, 0, 0});
  }
  const auto lighter_last = [&](const Group& a, const Group& b) {
    return nodes_[a.node].weight > nodes_[b.node].weight;
  };
  while (groups.size() > most_compared) {
    std::ranges::stable_sort(groups, lighter_last);
    const Group last = groups.back();
    groups.pop_back();
    groups.back() = merge(groups.back(), last);
  }
  best_tree(groups);
}

Mixture::Group Mixture::merge(const Group& a, const Group& b) {
  const std::uint64_t weight = nodes_[a.node].weight + nodes_[b.node].weight;
  nodes_.push_back({weight, a.node, b.node});
  return {nodes_.size() - 1, std::min(a.room, b.room) - 1 / static_cast<double>(weight)};
}

/// The splits of all subsets, smaller ones first; then the nodes of the best of the whole.
Mixture::Group Mixture::best_tree(const std::vector<Group>& groups) {
  struct Subset {
    double weight = 0, room = 0;
    unsigned left = 0;
  };
  std::vector<Subset> subsets(std::size_t{1} << groups.size());
  for (unsigned members = 1; members < subsets.size(); ++members) {
    Subset& best = subsets[members];
    const unsigned lowest = members & -members, others = members ^ lowest;
    const Group& first = groups[static_cast<std::size_t>(std::countr_zero(lowest))];
    best.weight = subsets[others].weight + static_cast<double>(nodes_[first.node].weight);
    best.room = first.room;
    if (others == 0) continue;
    best.room = -INFINITY;
    for (unsigned right = others; right != 0; right = (right - 1) & others) {
      const double room = std::min(subsets[members ^ right].room, subsets[right].room);
      if (room > best.room) best = {best.weight, room, members ^ right};
    }
    best.room -= 1 / best.weight;
  }
  const auto build = [&](auto&& self, unsigned members) -> Group {
    const unsigned left = subsets[members].left;
    if (left == 0) return groups[static_cast<std::size_t>(std::countr_zero(members))];
    const Group a = self(self, left), b = self(self, members ^ left);
    return merge(a, b);
  };
  return build(build, static_cast<unsigned>(subsets.size() - 1));
}

std::int64_t Mixture::left_count(const Node& parent, const Node& left, std::int64_t n) {
  return static_cast<std::int64_t>((Wide{2} * static_cast<std::uint64_t>(n) * left.weight + parent.weight) /
                                   (Wide{2} * parent.weight));
}

Mixture::Place Mixture::place(std::int64_t global_sample) const {
  std::size_t at = nodes_.size() - 1;
  std::int64_t index = global_sample;
  while (!nodes_[at].is_leaf()) {
    const Node& node = nodes_[at];
    const Node& left = nodes_[node.left];
    const std::int64_t before = left_count(node, left, index);
    const bool goes_left = left_count(node, left, index + 1) > before;
    at = goes_left ? node.left : node.right;
    index = goes_left ? before : index - before;
  }
  return {at, index};
}

std::vector<std::int64_t> Mixture::counts(std::int64_t n) const {
  std::vector<std::int64_t> counts(n_sets());
  add_counts(nodes_.size() - 1, n, counts);
  return counts;
}

void Mixture::add_counts(std::size_t at, std::int64_t n, std::vector<std::int64_t>& counts) const {
  const Node& node = nodes_[at];
  if (node.is_leaf()) {
    counts[at] = n;
    return;
  }
  const std::int64_t left = left_count(node, nodes_[node.left], n);
  add_counts(node.left, left, counts);
  add_counts(node.right, n - left, counts);
}

double Mixture::share(std::size_t set) const {
  return static_cast<double>(nodes_[set].weight) / static_cast<double>(nodes_.back().weight);
}

}  // namespace monomorph::data
