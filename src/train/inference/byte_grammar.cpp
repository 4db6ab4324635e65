#include "train/inference/byte_grammar.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace monomorph::train {
namespace {

std::size_t common_beginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::int32_t GrammarBuilder::node() {
  if (nodes_.size() == most_nodes) throw GrammarTooLarge("the schema is too large");
  nodes_.push_back({});
  return static_cast<std::int32_t>(nodes_.size() - 1);
}

std::int32_t GrammarBuilder::end_node() {
  const std::int32_t end = node();
  may_end(end);
  return end;
}

void GrammarBuilder::add(Edge edge) {
  if (edges_.size() == most_edges) throw GrammarTooLarge("the schema is too large");
  edges_.push_back(edge);
}

void GrammarBuilder::bytes(std::int32_t from, int least, int most, std::int32_t to) {
  add({from, to, -1, Kind::byte, static_cast<std::uint8_t>(least), static_cast<std::uint8_t>(most)});
}

void GrammarBuilder::byte(std::int32_t from, char byte, std::int32_t to) {
  const auto value = static_cast<unsigned char>(byte);
  bytes(from, value, value, to);
}

void GrammarBuilder::skip(std::int32_t from, std::int32_t to) { add({from, to, -1, Kind::skip, 0, 0}); }

void GrammarBuilder::call(std::int32_t from, std::int32_t rule, std::int32_t to) {
  add({from, to, rule, Kind::call, 0, 0});
}

std::int32_t GrammarBuilder::text(std::int32_t from, std::string_view text) {
  for (const char one : text) {
    const std::int32_t next = node();
    byte(from, one, next);
    from = next;
  }
  return from;
}

/// Sorted texts share the nodes of what they begin with.
void GrammarBuilder::any_of(std::int32_t from, std::span<const std::string_view> texts, std::int32_t to) {
  std::vector<std::string_view> sorted(texts.begin(), texts.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::int32_t> path{from};
  std::string_view before;
  for (const std::string_view text : sorted) {
    path.resize(common_beginning(before, text) + 1);
    for (const char one : text.substr(path.size() - 1)) {
      const std::int32_t next = node();
      byte(path.back(), one, next);
      path.push_back(next);
    }
    skip(path.back(), to);
    before = text;
  }
}

ByteGrammar GrammarBuilder::build(std::int32_t start) && {
  set_heights();
  std::ranges::sort(edges_, {}, [](const Edge& edge) { return std::tuple(edge.from, edge.kind, edge.least); });
  ByteGrammar grammar;
  grammar.start_ = start;
  nodes_.push_back({});
  std::size_t next = 0;
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    ByteGrammar::Node& node = nodes_[id];
    node.bytes = static_cast<std::int32_t>(grammar.bytes_.size());
    node.skips = static_cast<std::int32_t>(grammar.skips_.size());
    node.calls = static_cast<std::int32_t>(grammar.calls_.size());
    for (; next < edges_.size() && edges_[next].from == static_cast<std::int32_t>(id); ++next) {
      const Edge& edge = edges_[next];
      if (nodes_[static_cast<std::size_t>(edge.to)].height == ByteGrammar::never) continue;
      if (edge.kind == Kind::byte) grammar.bytes_.push_back({edge.least, edge.most, edge.to});
      if (edge.kind == Kind::skip) grammar.skips_.push_back(edge.to);
      if (edge.kind == Kind::call && nodes_[static_cast<std::size_t>(edge.rule)].height != ByteGrammar::never)
        grammar.calls_.push_back({edge.rule, edge.to});
    }
    node.plain = !node.ends && node.skips == static_cast<std::int32_t>(grammar.skips_.size()) &&
                 node.calls == static_cast<std::int32_t>(grammar.calls_.size());
  }
  grammar.nodes_ = std::move(nodes_);
  return grammar;
}

/// From the ends back, by rising height: what is known of a node when its turn comes stays so, as an edge's height is
/// the greater one of those that it needs.
void GrammarBuilder::set_heights() {
  const std::size_t n = nodes_.size();
  std::vector<std::int32_t> first(n + 1, 0), by_needed(2 * edges_.size());  // edges by the nodes that they need
  const auto each_need = [&](auto&& use) {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      use(static_cast<std::size_t>(edges_[i].to), i);
      if (edges_[i].kind == Kind::call) use(static_cast<std::size_t>(edges_[i].rule), i);
    }
  };
  each_need([&](std::size_t needed, std::size_t) { ++first[needed + 1]; });
  for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
  std::vector<std::int32_t> at(first.begin(), first.end() - 1);
  each_need([&](std::size_t needed, std::size_t i) {
    by_needed[static_cast<std::size_t>(at[needed]++)] = static_cast<std::int32_t>(i);
  });
  std::vector<std::vector<std::int32_t>> turns(ByteGrammar::most_depth + 2);
  for (std::size_t i = 0; i < n; ++i)
    if (nodes_[i].ends) turns[0].push_back(static_cast<std::int32_t>(i));
  for (std::size_t height = 0; height <= ByteGrammar::most_depth; ++height)
    while (!turns[height].empty()) {
      const auto id = static_cast<std::size_t>(turns[height].back());
      turns[height].pop_back();
      if (nodes_[id].height != ByteGrammar::never) continue;
      nodes_[id].height = static_cast<std::uint8_t>(height);
      for (auto i = static_cast<std::size_t>(first[id]); i < static_cast<std::size_t>(first[id + 1]); ++i) {
        const Edge& edge = edges_[static_cast<std::size_t>(by_needed[i])];
        const std::size_t to = nodes_[static_cast<std::size_t>(edge.to)].height;
        const std::size_t rule =
            edge.kind == Kind::call ? std::size_t{nodes_[static_cast<std::size_t>(edge.rule)].height} + 1 : 0;
        if (const std::size_t needs = std::max(to, rule); needs <= ByteGrammar::most_depth)
          turns[needs].push_back(edge.from);
      }
    }
}

}  // namespace monomorph::train
