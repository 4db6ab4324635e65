#pragma once
#include "data/records/text_input.hpp"

#include <monomorph/data/records/line_buffer.hpp>

#include <optional>
#include <string>

namespace monomorph::data {

/// The lines of a file or pipe in turn: of the text that TextInput makes of it, so that one that is compressed, or the
/// rows of a Parquet file, are read as JSON Lines are.
class TextLines {
 public:
  /// @throws as TextInput
  explicit TextLines(const std::string& path) : path_(path), input_(path) {}
  /// Nothing at the end.   @throws as TextInput::read_some
  std::optional<Line> next() { return buffer_.next(input_); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  TextInput input_;
  LineBuffer buffer_;
};

}  // namespace monomorph::data
