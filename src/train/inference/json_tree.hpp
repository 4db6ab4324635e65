#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// A JSON text with all that it says: members in their order, and numbers as they are written.
struct JsonTree {
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool flag = false;                 ///< of a boolean
  std::string text{};                ///< of a string, what it says; of a number, how it is written
  std::vector<std::string> names{};  ///< of an object's members
  std::vector<JsonTree> items{};     ///< of an array, or of an object in the order of names

  bool is(Kind other) const { return kind == other; }
  /// The last member of this name; null if there is none.
  const JsonTree* find(std::string_view name) const;
  /// As JSON, without white space.
  std::string dump() const;
};

/// Nothing if the text is no JSON, or lies more than `most_json_levels` deep.
constexpr std::size_t most_json_levels = 128;
std::optional<JsonTree> json_tree_of(std::string_view text);

/// A string as JSON has it, in its quotes.
std::string json_string(std::string_view text);

}  // namespace monomorph::train
