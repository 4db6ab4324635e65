#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// From which of several sets each sample of a run comes: computed from the sample's number, so that a position is one
/// number. After any number of samples each set has had its share to within one sample (with up to four sets always;
/// with more, for nearly all weights, else to within 1.1).
class Mixture {
 public:
  /// @param weights one a set, relative to each other   @throws [DATA-64] if there is none, or one is not above 0
  explicit Mixture(std::span<const double> weights);

  struct Place {
    std::size_t set;
    std::int64_t index;  ///< how many samples of that set came before
  };
  Place place(std::int64_t global_sample) const;

  /// How many of the first `n` samples each set has.
  std::vector<std::int64_t> counts(std::int64_t n) const;
  /// The part of all samples that comes from a set.
  double share(std::size_t set) const;
  std::size_t n_sets() const noexcept { return (nodes_.size() + 1) / 2; }

 private:
  /// The sets are the leaves of a binary tree. Each node hands the samples that come to it to its two children, as
  /// evenly as whole numbers can.
  struct Node {
    std::uint64_t weight;
    std::size_t left, right;  ///< nodes; equal in a leaf. The first nodes are the leaves, in the order of the sets.
    bool is_leaf() const noexcept { return left == right; }
  };
  struct Group;
  static std::int64_t left_count(const Node& parent, const Node& left, std::int64_t n);
  void add_counts(std::size_t node, std::int64_t n, std::vector<std::int64_t>& counts) const;
  Group merge(const Group& a, const Group& b);
  Group best_tree(const std::vector<Group>& groups);

  std::vector<Node> nodes_;  ///< the root is the last
};

}  // namespace monomorph::data
