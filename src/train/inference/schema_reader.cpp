#include "train/inference/schema_reader.hpp"

#include <monomorph/core/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monomorph::train {
namespace {

using Kind = JsonTree::Kind;
using Why = SchemaError::Why;

constexpr std::pair<std::string_view, unsigned> type_names[] = {
    {"null", SchemaLeaf::of_null},      {"boolean", SchemaLeaf::of_boolean}, {"object", SchemaLeaf::of_object},
    {"array", SchemaLeaf::of_array},    {"string", SchemaLeaf::of_string},   {"number", SchemaLeaf::of_number},
    {"integer", SchemaLeaf::of_integer}};

/// What tells people and programs something, and asks nothing of a value.
constexpr std::string_view annotations[] = {"$schema",  "$comment",  "title",       "description",
                                            "default",  "examples",  "example",     "deprecated",
                                            "readOnly", "writeOnly", "definitions", "$defs"};

/// A schema's keyword; null in what has more members than there are keywords, which is refused for one of these.
const JsonTree* keyword_of(const JsonTree& schema, std::string_view name) {
  return schema.names.size() > 64 ? nullptr : schema.find(name);
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

}  // namespace

void SchemaReader::refuse(Why why, const JsonTree& at, std::string_view below, std::string_view what) const {
  std::string path = given_.place;
  find_path(schema_, at, path);
  if (!below.empty()) path += "." + shown_name(below);
  throw SchemaError(why, std::move(path), std::string(what));
}

void SchemaReader::look(std::size_t n) {
  looked_at_ += n;
  if (looked_at_ > GrammarBuilder::most_edges) throw GrammarTooLarge("the schema is too large");
}

std::vector<const JsonTree*> SchemaReader::alternatives(const JsonTree& schema) {
  std::vector<const JsonTree*> found, open{&schema};
  std::set<const JsonTree*> seen;
  while (!open.empty()) {
    const JsonTree& one = *open.back();
    open.pop_back();
    if (!seen.insert(&one).second) continue;
    look(1);
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

const JsonTree& SchemaReader::resolved(const JsonTree& schema) {
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
void SchemaReader::check_alone(const JsonTree& schema, std::string_view keyword) const {
  for (const std::string& name : schema.names)
    if (name != keyword && !is_annotation(name) && !(name == "$id" && &schema == &schema_))
      refuse(Why::unsupported, schema, name, fmt::format("beside {} is not supported here", keyword));
}

const JsonTree* SchemaReader::member(const JsonTree& value, std::string_view name) {
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

const JsonTree& SchemaReader::target_of(const JsonTree& reference) {
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

SchemaLeaf SchemaReader::leaf_of(const JsonTree& schema) const {
  SchemaLeaf leaf{.schema = &schema};
  if (schema.is(Kind::boolean)) return leaf;
  if (!schema.is(Kind::object)) refuse(Why::wrong, schema, "", "must be a schema: an object, true or false");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < schema.names.size(); ++i) {
    if (!names.insert(schema.names[i]).second) refuse(Why::wrong, schema, schema.names[i], "is there twice");
    read_keyword(leaf, schema, i);
  }
  return leaf;
}

void SchemaReader::read_keyword(SchemaLeaf& leaf, const JsonTree& schema, std::size_t member) const {
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

std::int64_t SchemaReader::count_of(const JsonTree& value, std::int64_t most) const {
  const auto number = value.is(Kind::number) ? decimal_of(value.text) : std::nullopt;
  if (!number || !number->fraction.empty() || *number < Decimal{})
    refuse(Why::wrong, value, "", "must be a whole number from 0");
  const auto count = number_from<std::int64_t>(number->integer);
  if (!count || *count > most) refuse(Why::unsupported, value, "", fmt::format("is supported up to {} here", most));
  return *count;
}

NumberBound SchemaReader::bound_of(const JsonTree& value, bool exclusive) const {
  if (!value.is(Kind::number)) refuse(Why::wrong, value, "", "must be a number");
  const auto bound = decimal_of(value.text);
  if (!bound) refuse(Why::unsupported, value, "", "has too many digits");
  return {*bound, exclusive};
}

std::vector<bool> SchemaReader::required_of(const SchemaLeaf& leaf) const {
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

}  // namespace monomorph::train
