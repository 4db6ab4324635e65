#pragma once
#include "data/records/parquet_input.hpp"
#include "data/records/text_source.hpp"

#include <monomorph/data/records/input_file.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace monomorph::data {

/// The text of a file or pipe, read from front to end; that of a file whose name ends in .gz or .zst is decompressed,
/// and that of a Parquet file is its rows as JSON Lines.
class TextInput {
 public:
  /// @param columns of a Parquet file   @throws as InputFile, open_parquet; [DATA-71]
  explicit TextInput(const std::string& path, const Columns& columns = {});

  /// Reads up to `n_bytes` of text; 0 at its end.   @throws as InputFile; [DATA-70], [DATA-72]
  std::size_t read_some(char* to, std::size_t n_bytes);
  /// Appends up to `n_bytes` to `text`; false at the end.   @throws as read_some
  bool read_more(std::string& text, std::size_t n_bytes);
  /// Goes on reading from there; where the text is made of the file, by making all before it.
  /// @param offset in the text, ahead
  void skip_to(std::uint64_t offset);
  const std::string& path() const noexcept { return file_.path(); }
  /// Of the text; 0 where nobody knows it beforehand: of a pipe, and where the text is made of the file.
  std::uint64_t text_bytes() const { return source_ ? 0 : file_.regular_file_bytes(); }
  /// Whether text_bytes() is known: an empty file's is.
  bool has_text_bytes() const { return !source_ && file_.is_regular_file(); }

 private:
  std::unique_ptr<TextSource> make_source(const Columns& columns);

  InputFile file_;
  std::unique_ptr<TextSource> source_;  ///< nothing: the file is the text
};

}  // namespace monomorph::data
