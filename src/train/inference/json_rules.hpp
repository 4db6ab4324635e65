#pragma once
#include "train/inference/byte_grammar.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace monomorph::train {

/// How bytes make up valid UTF-8. States are numbered from 0, which is between characters.
struct Utf8Edge {
  int state, least, most, to;
};
constexpr int n_utf8_states = 8;
/// Of text within a JSON string: without control characters, quotes and backslashes.
std::span<const Utf8Edge> utf8_edges();

/// The rules of JSON (RFC 8259) that all grammars have, as the first nodes of each. White space is bounded: where it
/// may be, there is one space, or a new line with up to `most_indent` blanks. So are numbers, to what readers hold
/// exactly: 19 digits, 20 behind the point, two in an exponent. Strings are valid UTF-8, and escapes no halves of
/// surrogates.
class JsonRules {
 public:
  static constexpr int most_indent = 64, most_integer_digits = 19, most_fraction_digits = 20;

  explicit JsonRules(GrammarBuilder& builder);

  std::int32_t string() const { return string_; }       ///< what is behind the first quote, with the last one
  std::int32_t plain_key() const { return plain_[0]; }  ///< the same without escapes
  std::int32_t plain_key(int utf8_state) const { return plain_[static_cast<std::size_t>(utf8_state)]; }
  std::int32_t end_of_key() const { return end_of_key_; }
  std::int32_t number() const { return number_; }
  std::int32_t integer() const { return integer_; }
  std::int32_t value() const { return value_; }
  std::int32_t object() const { return object_; }

  /// A node behind `from`, with white space between or without.
  std::int32_t spaced(std::int32_t from);
  /// A string of so many characters, behind its first quote. The numbers fit 16 bits.
  std::int32_t string(std::int64_t least, std::int64_t most);
  /// A string of so many characters, or of more.
  std::int32_t string_from(std::int64_t least);

 private:
  void add_space();
  void add_strings();
  void add_numbers();
  void add_values();
  void add_characters(std::int32_t from, std::int32_t to);
  void add_escapes(std::int32_t from, std::int32_t to);
  std::int32_t end_string(std::int32_t from);
  void add_object(std::int32_t from, std::int32_t to);
  void add_array(std::int32_t from, std::int32_t to);

  GrammarBuilder& builder_;
  std::int32_t space_ = 0, string_ = 0, end_of_key_ = 0, number_ = 0, integer_ = 0, value_ = 0, object_ = 0;
  std::array<std::int32_t, n_utf8_states> plain_{};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> bounded_;
  std::vector<std::int32_t> longer_;  ///< by the characters that are needed
};

}  // namespace monomorph::train
