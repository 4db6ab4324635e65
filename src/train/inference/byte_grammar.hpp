#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// A pushdown automaton over bytes. A node has edges of bytes, of nothing (skips), and of calls: a call goes through
/// another rule, from the rule's first node to one where a rule may end, and then on to the edge's node. A rule is
/// known by its first node, and reads a byte at least. Where a node is in several texts' ways at once, all are gone.
class ByteGrammar {
 public:
  /// Calls within calls, at most. Readers of JSON have bounds of their own, and ToolCallFinder's is 64.
  static constexpr int most_depth = 60;
  static constexpr std::uint8_t never = 255;

  struct ByteEdge {
    std::uint8_t least, most;
    std::int32_t to;
  };
  struct Call {
    std::int32_t rule, to;
  };
  struct Node {
    std::int32_t bytes = 0, skips = 0, calls = 0;  ///< where its edges begin; they end where those of the next begin
    /// How many calls within each other its rule takes at least to its end; `never`: it has no end.
    std::uint8_t height = never;
    bool ends = false;   ///< the rule may end here
    bool plain = false;  ///< it has edges of bytes and nothing else
    bool free = false;   ///< of text that nothing is asked of, in which special tokens may stand
    /// Between characters of a string that must have so many more, and may have so many; -1: it is no such place.
    std::int16_t needed = -1, left = -1;
  };

  std::int32_t start() const { return start_; }
  std::size_t size() const { return nodes_.size() - 1; }
  const Node& node(std::int32_t id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// By rising bytes, none of which two edges of a node have.
  std::span<const ByteEdge> bytes(std::int32_t id) const { return edges(bytes_, &Node::bytes, id); }
  std::span<const std::int32_t> skips(std::int32_t id) const { return edges(skips_, &Node::skips, id); }
  std::span<const Call> calls(std::int32_t id) const { return edges(calls_, &Node::calls, id); }
  /// Whether any text ends, with no more calls within each other than there may be.
  bool can_end() const { return node(start_).height <= most_depth; }

 private:
  friend class GrammarBuilder;

  template <class Edge>
  std::span<const Edge> edges(const std::vector<Edge>& all, std::int32_t Node::*begin, std::int32_t id) const {
    const auto from = static_cast<std::size_t>(node(id).*begin), to = static_cast<std::size_t>(node(id + 1).*begin);
    return {all.data() + from, to - from};
  }

  std::int32_t start_ = 0;
  std::vector<Node> nodes_;  ///< and one behind the last, where edges end
  std::vector<ByteEdge> bytes_;
  std::vector<std::int32_t> skips_;
  std::vector<Call> calls_;
};

/// A grammar would have more nodes or edges than it may.
struct GrammarTooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Nodes and edges, in any order, of what becomes a grammar.
class GrammarBuilder {
 public:
  static constexpr std::size_t most_nodes = 100'000, most_edges = 400'000;

  /// A new one.   @throws GrammarTooLarge, as do all that add something
  std::int32_t node();
  std::int32_t end_node();
  void may_end(std::int32_t at) { nodes_[static_cast<std::size_t>(at)].ends = true; }
  void set_free(std::int32_t at) { nodes_[static_cast<std::size_t>(at)].free = true; }
  void set_counts(std::int32_t at, std::int64_t needed, std::int64_t left) {
    nodes_[static_cast<std::size_t>(at)].needed = static_cast<std::int16_t>(needed);
    nodes_[static_cast<std::size_t>(at)].left = static_cast<std::int16_t>(left);
  }
  void bytes(std::int32_t from, int least, int most, std::int32_t to);
  void byte(std::int32_t from, char byte, std::int32_t to);
  void skip(std::int32_t from, std::int32_t to);
  void call(std::int32_t from, std::int32_t rule, std::int32_t to);
  /// @return where the text ends
  std::int32_t text(std::int32_t from, std::string_view text);
  /// One of several texts, none of them empty.
  void any_of(std::int32_t from, std::span<const std::string_view> texts, std::int32_t to);

  ByteGrammar build(std::int32_t start) &&;

 private:
  enum class Kind : std::uint8_t { byte, skip, call };
  struct Edge {
    std::int32_t from, to, rule;
    Kind kind;
    std::uint8_t least, most;
  };

  void add(Edge edge);
  void set_heights();

  std::vector<ByteGrammar::Node> nodes_;
  std::vector<Edge> edges_;
};

}  // namespace monomorph::train
