#include "train/inference/schema_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace monomorph::train {
namespace {

using Kind = JsonTree::Kind;
using Why = SchemaError::Why;

bool asks_nothing(const JsonTree& schema) {
  return schema.is(Kind::boolean) ? schema.flag : schema.is(Kind::object) && schema.names.empty();
}

unsigned type_of(const JsonTree& value) {
  switch (value.kind) {
    case Kind::null:
      return SchemaLeaf::of_null;
    case Kind::boolean:
      return SchemaLeaf::of_boolean;
    case Kind::object:
      return SchemaLeaf::of_object;
    case Kind::array:
      return SchemaLeaf::of_array;
    case Kind::string:
      return SchemaLeaf::of_string;
    default:
      break;
  }
  const auto decimal = decimal_of(value.text);
  return decimal && decimal->fraction.empty() ? SchemaLeaf::of_number | SchemaLeaf::of_integer : SchemaLeaf::of_number;
}

/// As they are written: 1 and 1.0 are two values.
bool equal(const JsonTree& left, const JsonTree& right) {
  return left.kind == right.kind && left.flag == right.flag && left.text == right.text && left.names == right.names &&
         std::ranges::equal(left.items, right.items, equal);
}

/// Counts a value by its size, before anything is done with it that takes as long.
void look_at(SchemaReader& reader, const JsonTree& value) {
  constexpr std::size_t bytes_per_step = 16;
  reader.look(1 + value.text.size() / bytes_per_step);
  for (const std::string& name : value.names) reader.look(name.size() / bytes_per_step);
  for (const JsonTree& item : value.items) look_at(reader, item);
}

/// A tree of texts, whose nodes are gone through beside those that read any key.
struct TextTree {
  struct Node {
    std::vector<std::pair<unsigned char, std::size_t>> below;  ///< by rising bytes
    bool ends = false;
  };
  std::vector<Node> nodes{1};

  /// @param texts sorted
  explicit TextTree(const std::vector<std::string_view>& texts) {
    for (const std::string_view text : texts) {
      std::size_t at = 0;
      for (const char byte : text) {
        const auto value = static_cast<unsigned char>(byte);
        if (nodes[at].below.empty() || nodes[at].below.back().first != value) {
          nodes[at].below.emplace_back(value, nodes.size());
          nodes.emplace_back();
        }
        at = nodes[at].below.back().second;
      }
      nodes[at].ends = true;
    }
  }
};

/// Whether a key can be written without escapes at all.
bool is_plain(std::string_view name) {
  return std::ranges::none_of(name, [](char one) {
    return static_cast<unsigned char>(one) < 0x20 || one == '"' || one == '\\';
  });
}

}  // namespace

std::int32_t SchemaGrammar::rule() {
  const std::int32_t root = builder_.node();
  if (root_ == Root::any) known_.emplace(&schema_, root);
  add_rule(root, schema_);
  while (!unwritten_.empty()) {
    const auto [from, schema] = unwritten_.front();
    unwritten_.pop_front();
    root_ = Root::any;
    add_rule(from, *schema);
  }
  return root;
}

std::int32_t SchemaGrammar::rule_of(const JsonTree& schema) {
  const JsonTree& said = reader_.resolved(schema);
  if (asks_nothing(said)) return rules_.value();
  const auto known = known_.find(&said);
  if (known != known_.end()) return known->second;
  const std::int32_t rule = builder_.node();
  known_.emplace(&said, rule);
  unwritten_.emplace_back(rule, &said);
  return rule;
}

/// Of several alternatives, objects and arrays are rules of their own: those that other places have, too, are there
/// once, and a text goes through them once.
void SchemaGrammar::add_rule(std::int32_t from, const JsonTree& schema) {
  const std::int32_t end = builder_.end_node();
  const std::vector<const JsonTree*> all = reader_.alternatives(schema);
  for (const JsonTree* const alternative : all) {
    // A list of types is gone through for each reference, however often it names one of them.
    if (const JsonTree* const types = alternative->find("type")) reader_.look(types->items.size());
    SchemaLeaf leaf = reader_.leaf_of(*alternative);
    if (root_ == Root::object) leaf.types &= SchemaLeaf::of_object;
    const bool is_nested = (leaf.types & (SchemaLeaf::of_object | SchemaLeaf::of_array)) != 0 &&
                           leaf.values == nullptr && leaf.constant == nullptr;
    if (all.size() > 1 && is_nested && root_ == Root::any) {
      builder_.call(from, rule_of(*alternative), end);
      continue;
    }
    const std::int32_t first = builder_.node();
    builder_.skip(from, first);
    add_leaf(first, leaf, end);
  }
}

void SchemaGrammar::add_leaf(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to) {
  if (leaf.values != nullptr || leaf.constant != nullptr) return add_values(from, leaf, to);
  const auto literal = [&](const char* text) { builder_.skip(builder_.text(from, text), to); };
  if (leaf.types & SchemaLeaf::of_null) literal("null");
  if (leaf.types & SchemaLeaf::of_boolean) literal("true"), literal("false");
  if (leaf.types & SchemaLeaf::of_string) add_string(from, leaf, to);
  if (leaf.types & (SchemaLeaf::of_number | SchemaLeaf::of_integer))
    add_number(from, leaf, !(leaf.types & SchemaLeaf::of_number), to);
  if (leaf.types & SchemaLeaf::of_array) add_array(from, leaf, to);
  if (leaf.types & SchemaLeaf::of_object) add_object(from, leaf, to);
}

/// The values that have one of the types, each written in one way. Those that come to nothing of the grammar, which are
/// gone through for each reference all the same, are counted here.
void SchemaGrammar::add_values(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to) {
  const char* const keyword = leaf.values != nullptr ? "enum" : "const";
  if (!leaf.asserts.empty())
    reader_.refuse(Why::unsupported, *leaf.schema, leaf.asserts,
                   fmt::format("beside {} is not supported here", keyword));
  if (leaf.values != nullptr) look_at(reader_, *leaf.values);
  if (leaf.constant != nullptr) look_at(reader_, *leaf.constant);
  std::vector<std::string> texts;
  const auto add = [&](const JsonTree& value) {
    const bool is_other = leaf.constant != nullptr && !equal(value, *leaf.constant);
    if (!is_other && (leaf.types & type_of(value))) texts.push_back(value.dump());
  };
  if (leaf.values == nullptr)
    add(*leaf.constant);
  else
    std::ranges::for_each(leaf.values->items, add);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  builder_.any_of(from, views, to);
}

void SchemaGrammar::add_string(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to) {
  const std::int32_t quoted = builder_.node();
  builder_.byte(from, '"', quoted);
  if (leaf.least_characters == 0 && leaf.most_characters < 0) return builder_.call(quoted, rules_.string(), to);
  if (leaf.most_characters >= 0 && leaf.least_characters > leaf.most_characters) return;
  if (leaf.most_characters >= 0)
    return builder_.call(quoted, rules_.string(leaf.least_characters, leaf.most_characters), to);
  builder_.call(quoted, rules_.string_from(leaf.least_characters), to);
}

void SchemaGrammar::add_number(std::int32_t from, const SchemaLeaf& leaf, bool whole, std::int32_t to) {
  NumberRange range = leaf.numbers;
  if (!range.least && !range.most) return builder_.call(from, whole ? rules_.integer() : rules_.number(), to);
  range.whole = whole;
  add_numbers_in(builder_, from, range, to);
}

void SchemaGrammar::add_array(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to) {
  if (leaf.most_items >= 0 && leaf.least_items > leaf.most_items) return;
  const std::int32_t item = leaf.items == nullptr ? rules_.value() : rule_of(*leaf.items);
  const std::int32_t open = builder_.node();
  builder_.byte(from, '[', open);
  std::int32_t next = rules_.spaced(open);
  if (leaf.least_items == 0) builder_.byte(next, ']', to);
  // Behind as many as are counted, one more leads back to the same place.
  const std::int64_t n_counted = leaf.most_items >= 0 ? leaf.most_items : std::max<std::int64_t>(1, leaf.least_items);
  for (std::int64_t n = 1; n <= n_counted; ++n) {
    const std::int32_t valued = builder_.node();
    builder_.call(next, item, valued);
    const std::int32_t behind = rules_.spaced(valued);
    if (n >= leaf.least_items) builder_.byte(behind, ']', to);
    if (n == leaf.most_items) return;
    next = rules_.spaced(builder_.text(behind, ","));
    if (n == n_counted) builder_.call(next, item, valued);
  }
}

/// @return behind the value of a key whose last quote is read
std::int32_t SchemaGrammar::value_behind(std::int32_t key, std::int32_t value_rule) {
  const std::int32_t colon = builder_.text(rules_.spaced(key), ":"), valued = builder_.node();
  builder_.call(rules_.spaced(colon), value_rule, valued);
  return valued;
}

/// A node for each place between members: there the next one begins, or, where it is optional, one of those behind it.
void SchemaGrammar::add_object(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to) {
  if (leaf.required != nullptr) look_at(reader_, *leaf.required);
  const std::vector<bool> required = reader_.required_of(leaf);
  const std::size_t n = required.size();
  const auto last_required = std::find(required.rbegin(), required.rend(), true);
  const auto n_until_last = static_cast<std::size_t>(required.rend() - last_required);
  Names names;
  std::vector<std::int32_t> at(n + 1);
  for (std::int32_t& place : at) place = builder_.node();
  const std::int32_t open = builder_.node();
  builder_.byte(from, '{', open);
  const std::int32_t first = rules_.spaced(open);
  builder_.skip(first, at[0]);
  if (n_until_last == 0) builder_.byte(first, '}', to);
  const auto end_member = [&](std::int32_t valued, std::size_t next) {
    const std::int32_t behind = rules_.spaced(valued);
    if (next >= n_until_last) builder_.byte(behind, '}', to);
    builder_.skip(rules_.spaced(builder_.text(behind, ",")), at[next]);
  };
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string& name = leaf.properties->names[i];
    if (!known.insert(name).second) reader_.refuse(Why::wrong, *leaf.properties, name, "is there twice");
    if (is_plain(name)) names.push_back(name);
    end_member(value_behind(builder_.text(at[i], json_string(name)), rule_of(leaf.properties->items[i])), i + 1);
    if (!required[i]) builder_.skip(at[i], at[i + 1]);
  }
  if (leaf.additional != nullptr && leaf.additional->is(Kind::boolean) && !leaf.additional->flag) return;
  const std::int32_t quoted = builder_.node(), keyed = builder_.node();
  builder_.byte(at[n], '"', quoted);
  std::ranges::sort(names);
  builder_.call(quoted, names.empty() ? rules_.plain_key() : other_key(names), keyed);
  end_member(value_behind(keyed, leaf.additional == nullptr ? rules_.value() : rule_of(*leaf.additional)), n);
}

/// The rule of keys that are none of these, without escapes, by which names could be written in other ways.
std::int32_t SchemaGrammar::other_key(const Names& names) {
  const TextTree tree(names);
  struct Both {
    std::size_t text;
    int utf8;
    std::int32_t node;
  };
  const std::int32_t rule = builder_.node();
  std::vector<Both> open{{0, 0, rule}};
  while (!open.empty()) {
    const Both at = open.back();
    open.pop_back();
    const TextTree::Node& node = tree.nodes[at.text];
    if (at.utf8 == 0 && !node.ends) builder_.skip(builder_.text(at.node, "\""), rules_.end_of_key());
    for (const Utf8Edge& edge : utf8_edges()) {
      if (edge.state != at.utf8) continue;
      int least = edge.least;
      for (const auto& [byte, below] : node.below) {
        if (byte < edge.least || byte > edge.most) continue;
        if (least < byte) builder_.bytes(at.node, least, byte - 1, rules_.plain_key(edge.to));
        least = byte + 1;
        open.push_back({below, edge.to, builder_.node()});
        builder_.bytes(at.node, byte, byte, open.back().node);
      }
      if (least <= edge.most) builder_.bytes(at.node, least, edge.most, rules_.plain_key(edge.to));
    }
  }
  return rule;
}

}  // namespace monomorph::train
