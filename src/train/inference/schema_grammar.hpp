#pragma once
#include "train/inference/json_rules.hpp"
#include "train/inference/json_tree.hpp"
#include "train/inference/number_range.hpp"

#include <deque>
#include <stdexcept>
#include <unordered_map>

namespace monomorph::train {

/// A JSON schema as somebody has given it, and where.
struct GivenSchema {
  const JsonTree* schema;
  std::string place;  ///< as errors call it
};

/// A JSON schema that nothing can be written by.
class SchemaError : public std::runtime_error {
 public:
  enum class Why { wrong, unsupported };

  SchemaError(Why why, std::string path, const std::string& what)
      : std::runtime_error(what), why_(why), path_(std::move(path)) {}

  /// Unsupported: it asks for something that cannot be kept to here.
  Why why() const noexcept { return why_; }
  /// Where the mistake is, with points between names, from the place of the schema on.
  const std::string& path() const noexcept { return path_; }

 private:
  Why why_;
  std::string path_;
};

/// Adds the rules of a JSON schema to a grammar: `type`, `properties`, `required`, `additionalProperties`, `items`,
/// `enum`, `const`, `anyOf`, `$ref` within the schema, and bounds of lengths and numbers. Members are written in the
/// schema's order. All that is written is valid, and not all that is valid can be written (docs/reference/serve.md).
class SchemaGrammar {
 public:
  enum class Root { any, object };
  static constexpr std::int64_t most_counted = 1024;  ///< items or characters that a schema may count

  /// All must outlive it.   @param root what the schema's own values may be
  SchemaGrammar(GrammarBuilder& builder, JsonRules& rules, const GivenSchema& given, Root root = Root::any)
      : builder_(builder), rules_(rules), given_(given), schema_(*given.schema), root_(root) {}

  /// The rule of the schema's values.   @throws SchemaError, GrammarTooLarge
  std::int32_t rule();

 private:
  struct Leaf;
  using Names = std::vector<std::string_view>;

  std::int32_t rule_of(const JsonTree& schema);
  void add_rule(std::int32_t from, const JsonTree& schema);
  std::vector<const JsonTree*> alternatives(const JsonTree& schema);
  const JsonTree& resolved(const JsonTree& schema);
  const JsonTree& target_of(const JsonTree& reference);
  const JsonTree* member(const JsonTree& value, std::string_view name);
  void check_alone(const JsonTree& schema, std::string_view keyword);

  Leaf leaf_of(const JsonTree& schema);
  void read_keyword(Leaf& leaf, const JsonTree& schema, std::size_t member);
  void add_leaf(std::int32_t from, const Leaf& leaf, std::int32_t to);
  void add_values(std::int32_t from, const Leaf& leaf, std::int32_t to);
  void add_string(std::int32_t from, const Leaf& leaf, std::int32_t to);
  void add_number(std::int32_t from, const Leaf& leaf, bool whole, std::int32_t to);
  void add_array(std::int32_t from, const Leaf& leaf, std::int32_t to);
  void add_object(std::int32_t from, const Leaf& leaf, std::int32_t to);
  std::int32_t other_key(const Names& names);
  std::int32_t value_behind(std::int32_t key, std::int32_t value_rule);
  std::vector<bool> required_of(const Leaf& leaf);

  std::int64_t count_of(const JsonTree& value, std::int64_t most);
  NumberBound bound_of(const JsonTree& value, bool exclusive);
  [[noreturn]] void refuse(SchemaError::Why why, const JsonTree& at, std::string_view below,
                           std::string_view what) const;

  GrammarBuilder& builder_;
  JsonRules& rules_;
  const GivenSchema& given_;
  const JsonTree& schema_;
  Root root_;
  std::unordered_map<const JsonTree*, std::int32_t> known_;
  std::deque<std::pair<std::int32_t, const JsonTree*>> unwritten_;
  std::unordered_map<std::string, const JsonTree*> targets_;
  std::unordered_map<const JsonTree*, std::unordered_map<std::string_view, const JsonTree*>> members_;
};

}  // namespace monomorph::train
