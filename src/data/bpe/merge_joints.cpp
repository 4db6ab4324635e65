#include <monomorph/data/bpe/merge_joints.hpp>

#include <algorithm>
#include <optional>

namespace monomorph::data {
namespace {

/// What each token is made of.
class Halves {
 public:
  explicit Halves(std::span<const MergeRule> rules) : n_rules_(rules.size()) {
    std::int32_t largest = -1;
    for (const MergeRule& rule : rules) largest = std::max(largest, rule.token);
    halves_.resize(static_cast<std::size_t>(largest) + 1, none);
    for (const MergeRule& rule : rules) halves_[static_cast<std::size_t>(rule.token)] = rule.pair;
  }

  bool is_made(std::int32_t token) const {
    return static_cast<std::size_t>(token) < halves_.size() && !(halves_[static_cast<std::size_t>(token)] == none);
  }
  std::size_t n_tokens() const { return halves_.size(); }

  using Side = std::int32_t TokenPair::*;
  /// The token that this one begins or ends with and that is not made of others; nothing if it is made of itself.
  std::optional<std::int32_t> end(std::int32_t token, Side side) const {
    for (std::size_t n_steps = 0; is_made(token); ++n_steps) {
      if (n_steps > n_rules_) return std::nullopt;
      token = halves_[static_cast<std::size_t>(token)].*side;
    }
    return token;
  }

 private:
  static constexpr TokenPair none{-1, -1};
  std::size_t n_rules_;
  std::vector<TokenPair> halves_;
};

}  // namespace

MergeJoints::MergeJoints(std::span<const MergeRule> rules) {
  const Halves halves(rules);
  for (std::size_t token = 0; token < halves.n_tokens(); ++token)
    made_.push_back(halves.is_made(static_cast<std::int32_t>(token)));
  for (const auto& [pair, token] : rules) {
    const auto begin = halves.end(pair.left, &TokenPair::left), end = halves.end(pair.right, &TokenPair::right);
    const auto left = halves.end(pair.left, &TokenPair::right), right = halves.end(pair.right, &TokenPair::left);
    // Only one of the ways in which a token is made is kept here, so all of them must have the same ends.
    joins_all_ |=
        !left || !right || begin != halves.end(token, &TokenPair::left) || end != halves.end(token, &TokenPair::right);
    if (joins_all_) return;
    joints_[{*left, *right}] = true;
  }
}

}  // namespace monomorph::data
