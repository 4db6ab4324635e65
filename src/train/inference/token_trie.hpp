#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

/// The texts of a vocabulary's tokens, by what they begin with: a tree with a node for each beginning, which lie in the
/// order in which a walk comes to them, so that what is below a node lies behind it.
class TokenTrie {
 public:
  /// @param texts by id; the tokens that have none are left out
  explicit TokenTrie(std::span<const std::string> texts);

  std::size_t size() const { return bytes_.size(); }
  std::uint8_t byte(std::size_t node) const { return bytes_[node]; }
  /// The bytes before a node's own.
  std::size_t depth(std::size_t node) const { return depths_[node]; }
  /// The first node behind those below this one.
  std::size_t end(std::size_t node) const { return ends_[node]; }
  /// A token that is as long as the node is deep, -1 for none; `next_same` tells others with the same text.
  std::int32_t token(std::size_t node) const { return tokens_[node]; }
  std::int32_t next_same(std::int32_t id) const { return next_same_[static_cast<std::size_t>(id)]; }
  /// Whether there is a token for every byte that JSON in UTF-8 is made of, so that it can always go on.
  bool spells_everything() const;

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> depths_, ends_;
  std::vector<std::int32_t> tokens_, next_same_;
};

}  // namespace monomorph::train
