#pragma once
#include "train/inference/json_rules.hpp"
#include "train/inference/schema_reader.hpp"

#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace monomorph::train {

/// Adds the rules of a JSON schema to a grammar: `type`, `properties`, `required`, `additionalProperties`, `items`,
/// `enum`, `const`, `anyOf`, `$ref` within the schema, and bounds of lengths and numbers. Members are written in the
/// schema's order. All that is written is valid, and not all that is valid can be written (docs/reference/serve.md).
class SchemaGrammar {
 public:
  enum class Root { any, object };

  /// All must outlive it.   @param root what the schema's own values may be
  SchemaGrammar(GrammarBuilder& builder, JsonRules& rules, const GivenSchema& given, Root root = Root::any)
      : builder_(builder), rules_(rules), schema_(*given.schema), reader_(given), root_(root) {}

  /// The rule of the schema's values.   @throws SchemaError, GrammarTooLarge
  std::int32_t rule();

 private:
  using Names = std::vector<std::string_view>;

  std::int32_t rule_of(const JsonTree& schema);
  void add_rule(std::int32_t from, const JsonTree& schema);
  void add_leaf(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to);
  void add_values(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to);
  void add_string(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to);
  void add_number(std::int32_t from, const SchemaLeaf& leaf, bool whole, std::int32_t to);
  void add_array(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to);
  void add_object(std::int32_t from, const SchemaLeaf& leaf, std::int32_t to);
  std::int32_t other_key(const Names& names);
  std::int32_t value_behind(std::int32_t key, std::int32_t value_rule);

  GrammarBuilder& builder_;
  JsonRules& rules_;
  const JsonTree& schema_;
  SchemaReader reader_;
  Root root_;
  std::unordered_map<const JsonTree*, std::int32_t> known_;
  std::deque<std::pair<std::int32_t, const JsonTree*>> unwritten_;
};

}  // namespace monomorph::train
