#pragma once
#include <monomorph/core/error_id.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace simdjson::dom {
class element;
}

namespace monomorph::data {

/// What is wrong with a line: the error's id and the rest of a sentence.
struct LineProblem {
  ErrorId id;
  std::string reason;
};

/// A parsed JSON Pointer (RFC 6901).
class FieldPointer {
 public:
  /// @throws [DATA-10] if `pointer` is none
  explicit FieldPointer(std::string pointer);
  const std::string& text() const noexcept { return text_; }
  const std::vector<std::string>& steps() const noexcept { return steps_; }

 private:
  std::string text_;
  std::vector<std::string> steps_;  ///< unescaped
};

/// Validates lines, every value of them, as JSON in UTF-8. Memory is bounded whatever the lines hold: of those that
/// are far longer than usual, the whole process parses at a time what one of the longest would take. One per thread.
class JsonLineParser {
 public:
  JsonLineParser();
  JsonLineParser(JsonLineParser&&) noexcept;
  ~JsonLineParser();

  /// Nothing if the line is one JSON value. LineBlock::padding_bytes after the line must be readable.
  std::variant<std::monostate, LineProblem> check(std::string_view line);
  /// The text at `field`, valid until the next call: UTF-8, with NUL characters where the line escapes them. Of members
  /// with one name the last counts. A long line may be overwritten with its text, which then takes no other memory.
  std::variant<std::string_view, LineProblem> text_at(std::span<char> line, const FieldPointer& field);
  /// Hands over the value of the line, and whether its numbers are those of the line: a number beyond 64 bits makes all
  /// of them 0.
  using Visit = std::function<void(const simdjson::dom::element& value, bool numbers_are_kept)>;
  std::optional<LineProblem> visit(std::string_view line, const Visit& visit);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// The last member of this name; nothing if there is none, or the value is no object.
std::optional<simdjson::dom::element> find_member(const simdjson::dom::element& value, std::string_view name);

/// Goes to the value at `field`; false if there is none. Of members with one name the last counts.
bool find_field(simdjson::dom::element& value, const FieldPointer& field);

}  // namespace monomorph::data
