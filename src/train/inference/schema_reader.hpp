#pragma once
#include "train/inference/json_tree.hpp"
#include "train/inference/number_range.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// What one schema without alternatives says.
struct SchemaLeaf {
  enum Type : unsigned {
    of_null = 1,
    of_boolean = 2,
    of_object = 4,
    of_array = 8,
    of_string = 16,
    of_number = 32,
    of_integer = 64
  };
  static constexpr unsigned all_types = of_null | of_boolean | of_object | of_array | of_string | of_number;

  const JsonTree* schema = nullptr;
  unsigned types = all_types;
  const JsonTree *properties = nullptr, *required = nullptr, *additional = nullptr, *items = nullptr, *values = nullptr,
                 *constant = nullptr;
  std::int64_t least_items = 0, most_items = -1, least_characters = 0, most_characters = -1;
  NumberRange numbers{};
  std::string asserts{};  ///< a keyword beside `enum`, `const` and `type` that it has
};

/// Reads the keywords of a JSON schema, and refuses what is wrong or not supported in it. Its functions are given parts
/// of the schema, and throw SchemaError.
class SchemaReader {
 public:
  static constexpr std::int64_t most_counted = 1024;  ///< items or characters that a schema may count

  /// It must outlive the reader.
  explicit SchemaReader(const GivenSchema& given) : given_(given), schema_(*given.schema) {}

  /// Counts parts of the schema that are gone through, as not all of them come to something of the grammar, and some
  /// are gone through for each reference to them.   @throws GrammarTooLarge
  void look(std::size_t n);
  /// All that `anyOf` and `$ref` come to. One that only leads back to itself comes to nothing.
  /// @throws GrammarTooLarge
  std::vector<const JsonTree*> alternatives(const JsonTree& schema);
  /// Through references alone, so that what they name has one rule.
  const JsonTree& resolved(const JsonTree& schema);
  /// Of a schema that is its only alternative.
  SchemaLeaf leaf_of(const JsonTree& schema) const;
  /// By property: whether it is required.
  std::vector<bool> required_of(const SchemaLeaf& leaf) const;
  /// @param at where the mistake is   @param below the name of a member there; may be empty
  [[noreturn]] void refuse(SchemaError::Why why, const JsonTree& at, std::string_view below,
                           std::string_view what) const;

 private:
  const JsonTree& target_of(const JsonTree& reference);
  const JsonTree* member(const JsonTree& value, std::string_view name);
  void check_alone(const JsonTree& schema, std::string_view keyword) const;
  void read_keyword(SchemaLeaf& leaf, const JsonTree& schema, std::size_t member) const;
  std::int64_t count_of(const JsonTree& value, std::int64_t most) const;
  NumberBound bound_of(const JsonTree& value, bool exclusive) const;

  const GivenSchema& given_;
  const JsonTree& schema_;
  std::size_t looked_at_ = 0;
  std::unordered_map<std::string, const JsonTree*> targets_;
  std::unordered_map<const JsonTree*, std::unordered_map<std::string_view, const JsonTree*>> members_;
};

}  // namespace monomorph::train
