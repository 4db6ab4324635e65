#pragma once
#include "data/text/code_point_set.hpp"
#include "data/text/pattern_reader.hpp"

#include <map>
#include <optional>
#include <string>

namespace monomorph::data {

/// A set of characters of a regular expression, and how to write it for PCRE2 within brackets.
struct PatternClass {
  CodePointSet set{};
  /// Shorter than the ranges; they stand where there is none. PCRE2's tables are older than ours, so a named class is
  /// written as its name and the characters that the name lacks.
  std::optional<std::string> short_form{};
};

/// Reads the sets of characters of one pattern.
class PatternClassReader {
 public:
  explicit PatternClassReader(PatternReader& reader) : reader_(reader) {}

  /// An escape that stands for a set (\d, \p{L}, …), whose letter has been taken; nothing if it does not.
  std::optional<PatternClass> escape(char32_t letter, bool within_brackets = false);
  /// What follows an opening bracket, up to its closing one.
  std::string brackets(bool caseless);
  /// A set written for PCRE2, with its brackets.
  static std::string written(const PatternClass& set);

  /// \w, which holds six characters more outside of brackets.
  PatternClass word(bool within_brackets = false);

 private:
  struct Content;
  PatternClass read_brackets(bool caseless);
  void read_item(Content& content, bool caseless);
  void read_range_from(char32_t first, Content& content);
  void add_posix_class(Content& content);
  PatternClass property(bool negated);
  PatternClass named(std::string_view name);
  PatternClass shortened(CodePointSet set, const std::string& names);
  const CodePointSet& known_to_pcre2(const std::string& names);

  PatternReader& reader_;
  std::map<std::string, CodePointSet> known_to_pcre2_;
};

}  // namespace monomorph::data
