#pragma once
#include <monomorph/data/records/input_file.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A condition on a JSON record, such as `/language == "en" && length(/text) >= 100 && !exists(/meta/spam)`.
/// docs/reference/data_commands.md has the language. Not for several threads at once.
class RecordExpression {
 public:
  /// @throws [DATA-43] with the column where the text stops making sense
  explicit RecordExpression(std::string_view text);
  RecordExpression(RecordExpression&&) noexcept;
  RecordExpression& operator=(RecordExpression&&) noexcept;
  ~RecordExpression();

  /// Whether it holds for the record on a line, which is read as for packing: of members with one name the last counts.
  /// @throws [DATA-02] if the line is no JSON; [DATA-20] if it is too long; [DATA-54] if a number of it is compared,
  /// and one of them is beyond 64 bits
  bool holds(const Line& line, const std::string& path);

  /// The fields that no record had so far, of those that it compares; one that it only asks to exist may be in none.
  std::vector<std::string> fields_never_found() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace monomorph::data
