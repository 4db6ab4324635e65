#include "data/records/text_input.hpp"

#include "data/records/append_some.hpp"
#include "data/records/decompressor.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <algorithm>

namespace monomorph::data {

TextInput::TextInput(const std::string& path, const Columns& columns) : file_(path), source_(make_source(columns)) {}

std::unique_ptr<TextSource> TextInput::make_source(const Columns& columns) {
  const std::string& path = file_.path();
  if (!is_parquet_name(path))
    return make_decompressor(compression_of(path), path,
                             [this](char* to, std::size_t n_bytes) { return file_.read_some(to, n_bytes); });
  if (!file_.is_regular_file())
    throw UsageError("DATA-25", in_quotes(path) + " is no file, and Parquet is read from its end; give a file");
  return open_parquet(path, columns);
}

std::size_t TextInput::read_some(char* to, std::size_t n_bytes) {
  return source_ ? source_->read_some(to, n_bytes) : file_.read_some(to, n_bytes);
}

bool TextInput::read_more(std::string& text, std::size_t n_bytes) { return append_some(*this, text, n_bytes); }

void TextInput::skip_to(std::uint64_t offset) {
  if (!source_) return file_.seek(offset);
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  std::string piece;
  for (std::uint64_t left = offset; left > 0; left -= piece.size()) {
    piece.clear();
    if (!read_more(piece, std::min<std::uint64_t>(left, piece_bytes))) return;
  }
}

}  // namespace monomorph::data
