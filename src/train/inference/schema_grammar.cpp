#include "train/inference/schema_grammar.hpp"

#include <monomorph/core/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace monomorph::train {
namespace {

using Kind = JsonTree::Kind;
using Why = SchemaError::Why;

enum TypeBit : unsigned {
  of_null = 1,
  of_boolean = 2,
  of_object = 4,
  of_array = 8,
  of_string = 16,
  of_number = 32,
  of_integer = 64
};
constexpr unsigned all_types = of_null | of_boolean | of_object | of_array | of_string | of_number;

constexpr std::pair<std::string_view, unsigned> type_names[] = {{"null", of_null},      {"boolean", of_boolean},
                                                                {"object", of_object},  {"array", of_array},
                                                                {"string", of_string},  {"number", of_number},
                                                                {"integer", of_integer}};

/// What tells people and programs something, and asks nothing of a value.
constexpr std::string_view annotations[] = {"$schema",  "$comment",  "title",       "description",
                                            "default",  "examples",  "example",     "deprecated",
                                            "readOnly", "writeOnly", "definitions", "$defs"};

/// A schema's keyword; null in what has more members than there are keywords, which is refused for one of these.
const JsonTree* keyword_of(const JsonTree& schema, std::string_view name) {
  return schema.names.size() > 64 ? nullptr : schema.find(name);
}

bool asks_nothing(const JsonTree& schema) {
  return schema.is(Kind::boolean) ? schema.flag : schema.is(Kind::object) && schema.names.empty();
}

bool is_annotation(std::string_view name) { return std::ranges::find(annotations, name) != std::end(annotations); }

/// As errors show it, in one line: names from outside may be long, and have any characters.
std::string shown_name(std::string_view name) {
  constexpr std::size_t most = 100;
  std::size_t end = std::min(name.size(), most);
  while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  const bool has_controls =
      std::ranges::any_of(name.substr(0, end), [](char one) { return static_cast<unsigned char>(one) < 0x20; });
  std::string shown(name.substr(0, end));
  if (has_controls) {
    shown = json_string(shown);
    shown = shown.substr(1, shown.size() - 2);
  }
  return end < name.size() ? shown + "…" : shown;
}

/// The way from one value to another one within it.
bool find_path(const JsonTree& from, const JsonTree& to, std::string& path) {
  if (&from == &to) return true;
  const std::size_t before = path.size();
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    path += "." + (from.is(Kind::object) ? shown_name(from.names[i]) : std::to_string(i));
    if (find_path(from.items[i], to, path)) return true;
    path.resize(before);
  }
  return false;
}

unsigned type_of(const JsonTree& value) {
  switch (value.kind) {
    case Kind::null:
      return of_null;
    case Kind::boolean:
      return of_boolean;
    case Kind::object:
      return of_object;
    case Kind::array:
      return of_array;
    case Kind::string:
      return of_string;
    default:
      break;
  }
  const auto decimal = decimal_of(value.text);
  return decimal && decimal->fraction.empty() ? of_number | of_integer : of_number;
}

/// A part of a JSON pointer, as in "#/$defs/a~1b%20c".
std::string unescaped(std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto hex = [&](std::size_t at) {
      const std::size_t digit = at < part.size() ? std::string_view("0123456789abcdefABCDEF").find(part[at]) : 99;
      return digit > 21 ? -1 : static_cast<int>(digit > 15 ? digit - 6 : digit);
    };
    if (part[i] == '%' && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
      text += static_cast<char>(16 * hex(i + 1) + hex(i + 2));
      i += 2;
    } else {
      text += part[i];
    }
  }
  for (std::size_t i = 0; (i = text.find('~', i)) != std::string::npos; ++i)
    if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1'))
      text.replace(i, 2, text[i + 1] == '0' ? "~" : "/");
  return text;
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

/// What one schema without alternatives says.
struct SchemaGrammar::Leaf {
  const JsonTree* schema = nullptr;
  unsigned types = all_types;
  const JsonTree *properties = nullptr, *required = nullptr, *additional = nullptr, *items = nullptr, *values = nullptr,
                 *constant = nullptr;
  std::int64_t least_items = 0, most_items = -1, least_characters = 0, most_characters = -1;
  NumberRange numbers{};
  std::string asserts{};  ///< a keyword beside `enum`, `const` and `type` that it has
};

void SchemaGrammar::refuse(Why why, const JsonTree& at, std::string_view below, std::string_view what) const {
  std::string path = given_.place;
  find_path(schema_, at, path);
  if (!below.empty()) path += "." + shown_name(below);
  throw SchemaError(why, std::move(path), std::string(what));
}

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
  const JsonTree& said = resolved(schema);
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
  const std::vector<const JsonTree*> all = alternatives(schema);
  for (const JsonTree* const alternative : all) {
    Leaf leaf = leaf_of(*alternative);
    if (root_ == Root::object) leaf.types &= of_object;
    const bool is_nested =
        (leaf.types & (of_object | of_array)) != 0 && leaf.values == nullptr && leaf.constant == nullptr;
    if (all.size() > 1 && is_nested && root_ == Root::any) {
      builder_.call(from, rule_of(*alternative), end);
      continue;
    }
    const std::int32_t first = builder_.node();
    builder_.skip(from, first);
    add_leaf(first, leaf, end);
  }
}

/// All that `anyOf` and `$ref` come to. One that only leads back to itself comes to nothing.
std::vector<const JsonTree*> SchemaGrammar::alternatives(const JsonTree& schema) {
  std::vector<const JsonTree*> found, open{&schema};
  std::set<const JsonTree*> seen;
  while (!open.empty()) {
    const JsonTree& one = *open.back();
    open.pop_back();
    if (!seen.insert(&one).second) continue;
    if (const JsonTree* const reference = keyword_of(one, "$ref")) {
      check_alone(one, "$ref");
      open.push_back(&target_of(*reference));
    } else if (const JsonTree* const any = keyword_of(one, "anyOf")) {
      check_alone(one, "anyOf");
      if (!any->is(Kind::array) || any->items.empty())
        refuse(Why::wrong, *any, "", "must be a list of at least one schema");
      for (std::size_t i = any->items.size(); i-- > 0;) open.push_back(&any->items[i]);
    } else if (!(one.is(Kind::boolean) && !one.flag)) {
      found.push_back(&one);
    }
  }
  if (found.size() > GrammarBuilder::most_nodes / 64) throw GrammarTooLarge("the schema is too large");
  return found;
}

/// Through references alone, so that what they name has one rule.
const JsonTree& SchemaGrammar::resolved(const JsonTree& schema) {
  const JsonTree* at = &schema;
  std::set<const JsonTree*> seen;
  while (seen.insert(at).second) {
    const JsonTree* const reference = keyword_of(*at, "$ref");
    if (reference == nullptr) break;
    check_alone(*at, "$ref");
    at = &target_of(*reference);
  }
  return *at;
}

/// What stands beside these would have to hold, too.
void SchemaGrammar::check_alone(const JsonTree& schema, std::string_view keyword) {
  for (const std::string& name : schema.names)
    if (name != keyword && !is_annotation(name) && !(name == "$id" && &schema == &schema_))
      refuse(Why::unsupported, schema, name, fmt::format("beside {} is not supported here", keyword));
}

const JsonTree* SchemaGrammar::member(const JsonTree& value, std::string_view name) {
  if (value.is(Kind::array)) {
    const auto index = number_from<std::size_t>(name);
    return index && *index < value.items.size() ? &value.items[*index] : nullptr;
  }
  auto [known, is_new] = members_.try_emplace(&value);
  if (is_new)
    for (std::size_t i = 0; i < value.names.size(); ++i) known->second[value.names[i]] = &value.items[i];
  const auto found = known->second.find(name);
  return found == known->second.end() ? nullptr : found->second;
}

const JsonTree& SchemaGrammar::target_of(const JsonTree& reference) {
  if (!reference.is(Kind::string)) refuse(Why::wrong, reference, "", "must be a string");
  const std::string& text = reference.text;
  const auto known = targets_.find(text);
  if (known != targets_.end()) return *known->second;
  if (!text.empty() && !text.starts_with('#'))
    refuse(Why::unsupported, reference, "",
           "names another document; references are within the schema here, as #/$defs/name");
  const JsonTree* at = &schema_;
  if (text.size() > 1 && text[1] != '/')
    refuse(Why::unsupported, reference, "", "names an anchor; references are paths here, as #/$defs/name");
  for (std::size_t begin = std::min<std::size_t>(2, text.size()); text.size() > 1;) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    at = member(*at, unescaped(std::string_view(text).substr(begin, end - begin)));
    if (at == nullptr) refuse(Why::wrong, reference, "", "names what the schema does not have");
    if (end == text.size()) break;
    begin = end + 1;
  }
  targets_.emplace(text, at);
  return *at;
}

SchemaGrammar::Leaf SchemaGrammar::leaf_of(const JsonTree& schema) {
  Leaf leaf{.schema = &schema};
  if (schema.is(Kind::boolean)) return leaf;
  if (!schema.is(Kind::object)) refuse(Why::wrong, schema, "", "must be a schema: an object, true or false");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < schema.names.size(); ++i) {
    if (!names.insert(schema.names[i]).second) refuse(Why::wrong, schema, schema.names[i], "is there twice");
    read_keyword(leaf, schema, i);
  }
  return leaf;
}

void SchemaGrammar::read_keyword(Leaf& leaf, const JsonTree& schema, std::size_t member) {
  const std::string& name = schema.names[member];
  const JsonTree& value = schema.items[member];
  const auto must_be = [&](Kind kind, const char* what) {
    if (!value.is(kind)) refuse(Why::wrong, value, "", what);
  };
  const auto tighten = [&](std::optional<NumberBound>& bound, bool exclusive, bool upper) {
    const NumberBound given = bound_of(value, exclusive);
    const auto order = bound ? given.at <=> bound->at : std::strong_ordering::equal;
    if (!bound || (upper ? order < 0 : order > 0) || (order == 0 && exclusive)) bound = given;
  };
  if (is_annotation(name) || (name == "$id" && &schema == &schema_)) return;
  if (name != "type" && name != "enum" && name != "const") leaf.asserts = name;
  if (name == "type") {
    const std::vector<JsonTree> one{value};
    leaf.types = 0;
    if (value.is(Kind::array) && value.items.empty()) refuse(Why::wrong, value, "", "must not be empty");
    for (const JsonTree& type : value.is(Kind::array) ? value.items : one) {
      const auto known = std::ranges::find(type_names, type.text, [](const auto& pair) { return pair.first; });
      if (!type.is(Kind::string) || known == std::end(type_names))
        refuse(Why::wrong, value, "",
               "must be null, boolean, object, array, string, number or integer, or a list of these");
      leaf.types |= known->second;
    }
  } else if (name == "properties") {
    must_be(Kind::object, "must be an object");
    leaf.properties = &value;
  } else if (name == "required") {
    must_be(Kind::array, "must be a list of names");
    leaf.required = &value;
  } else if (name == "additionalProperties") {
    leaf.additional = &value;
  } else if (name == "items") {
    leaf.items = &value;
  } else if (name == "enum") {
    must_be(Kind::array, "must be a list");
    if (value.items.empty()) refuse(Why::wrong, value, "", "must not be empty");
    leaf.values = &value;
  } else if (name == "const") {
    leaf.constant = &value;
  } else if (name == "minItems") {
    leaf.least_items = count_of(value, most_counted);
  } else if (name == "maxItems") {
    leaf.most_items = count_of(value, most_counted);
  } else if (name == "minLength") {
    leaf.least_characters = count_of(value, most_counted);
  } else if (name == "maxLength") {
    leaf.most_characters = count_of(value, most_counted);
  } else if (name == "minimum" || name == "exclusiveMinimum") {
    tighten(leaf.numbers.least, name != "minimum", false);
  } else if (name == "maximum" || name == "exclusiveMaximum") {
    tighten(leaf.numbers.most, name != "maximum", true);
  } else {
    refuse(Why::unsupported, schema, name, "is not supported here");
  }
}

std::int64_t SchemaGrammar::count_of(const JsonTree& value, std::int64_t most) {
  const auto number = value.is(Kind::number) ? decimal_of(value.text) : std::nullopt;
  if (!number || !number->fraction.empty() || *number < Decimal{})
    refuse(Why::wrong, value, "", "must be a whole number from 0");
  const auto count = number_from<std::int64_t>(number->integer);
  if (!count || *count > most) refuse(Why::unsupported, value, "", fmt::format("is supported up to {} here", most));
  return *count;
}

NumberBound SchemaGrammar::bound_of(const JsonTree& value, bool exclusive) {
  if (!value.is(Kind::number)) refuse(Why::wrong, value, "", "must be a number");
  const auto bound = decimal_of(value.text);
  if (!bound) refuse(Why::unsupported, value, "", "has too many digits");
  return {*bound, exclusive};
}

void SchemaGrammar::add_leaf(std::int32_t from, const Leaf& leaf, std::int32_t to) {
  if (leaf.values != nullptr || leaf.constant != nullptr) return add_values(from, leaf, to);
  const auto literal = [&](const char* text) { builder_.skip(builder_.text(from, text), to); };
  if (leaf.types & of_null) literal("null");
  if (leaf.types & of_boolean) literal("true"), literal("false");
  if (leaf.types & of_string) add_string(from, leaf, to);
  if (leaf.types & (of_number | of_integer)) add_number(from, leaf, !(leaf.types & of_number), to);
  if (leaf.types & of_array) add_array(from, leaf, to);
  if (leaf.types & of_object) add_object(from, leaf, to);
}

/// The values that have one of the types, each written in one way.
void SchemaGrammar::add_values(std::int32_t from, const Leaf& leaf, std::int32_t to) {
  const char* const keyword = leaf.values != nullptr ? "enum" : "const";
  if (!leaf.asserts.empty())
    refuse(Why::unsupported, *leaf.schema, leaf.asserts, fmt::format("beside {} is not supported here", keyword));
  const std::vector<JsonTree> constant{leaf.constant == nullptr ? JsonTree{} : *leaf.constant};
  std::vector<std::string> texts;
  for (const JsonTree& value : leaf.values == nullptr ? constant : leaf.values->items)
    if (leaf.types & type_of(value)) texts.push_back(value.dump());
  if (leaf.values != nullptr && leaf.constant != nullptr)
    std::erase_if(texts, [&, wanted = leaf.constant->dump()](const std::string& text) { return text != wanted; });
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  builder_.any_of(from, views, to);
}

void SchemaGrammar::add_string(std::int32_t from, const Leaf& leaf, std::int32_t to) {
  const std::int32_t quoted = builder_.node();
  builder_.byte(from, '"', quoted);
  if (leaf.least_characters == 0 && leaf.most_characters < 0) return builder_.call(quoted, rules_.string(), to);
  if (leaf.most_characters >= 0 && leaf.least_characters > leaf.most_characters) return;
  if (leaf.most_characters >= 0)
    return builder_.call(quoted, rules_.string(leaf.least_characters, leaf.most_characters), to);
  builder_.call(quoted, rules_.string_from(leaf.least_characters), to);
}

void SchemaGrammar::add_number(std::int32_t from, const Leaf& leaf, bool whole, std::int32_t to) {
  NumberRange range = leaf.numbers;
  if (!range.least && !range.most) return builder_.call(from, whole ? rules_.integer() : rules_.number(), to);
  range.whole = whole;
  add_numbers_in(builder_, from, range, to);
}

void SchemaGrammar::add_array(std::int32_t from, const Leaf& leaf, std::int32_t to) {
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

/// By property: whether it is required.
std::vector<bool> SchemaGrammar::required_of(const Leaf& leaf) {
  std::vector<bool> required(leaf.properties == nullptr ? 0 : leaf.properties->names.size());
  if (leaf.required == nullptr) return required;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < required.size(); ++i) places[leaf.properties->names[i]] = i;
  for (const JsonTree& name : leaf.required->items) {
    if (!name.is(Kind::string)) refuse(Why::wrong, name, "", "must be a name");
    const auto found = places.find(name.text);
    if (found == places.end())
      refuse(Why::wrong, name, "", fmt::format("is {}, which properties lack", json_string(shown_name(name.text))));
    required[found->second] = true;
  }
  return required;
}

/// A node for each place between members: there the next one begins, or, where it is optional, one of those behind it.
void SchemaGrammar::add_object(std::int32_t from, const Leaf& leaf, std::int32_t to) {
  const std::vector<bool> required = required_of(leaf);
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
    if (!known.insert(name).second) refuse(Why::wrong, *leaf.properties, name, "is there twice");
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
