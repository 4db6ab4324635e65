// Compressed inputs: the text is the same in whatever pieces it is read, or the file is refused with the same line. The
// first byte says which format.
#include "data/records/decompressor.hpp"

#include "harness.hpp"

#include <algorithm>
#include <cstring>

using namespace monomorph;

namespace {

constexpr std::size_t most_text = std::size_t{4} << 20;

/// The text, or the error, read through pieces of these sizes.
std::string outcome(data::Compression compression, std::string_view bytes, std::size_t compressed_piece,
                    std::size_t text_piece) {
  std::string text;
  try {
    const auto decompressor = data::make_decompressor(compression, "input", [&](char* to, std::size_t n_bytes) {
      const std::size_t n = std::min({n_bytes, compressed_piece, bytes.size()});
      std::memcpy(to, bytes.data(), n);
      bytes.remove_prefix(n);
      return n;
    });
    std::string piece(text_piece, '\0');
    while (text.size() < most_text) {
      const std::size_t n = decompressor->read_some(piece.data(), piece.size());
      if (n == 0) return text;
      text.append(piece, 0, n);
    }
  } catch (const Error& error) {
    fuzz::require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
    return std::string("refused ") + std::string(error.id().text());
  }
  text.resize(most_text);
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto compression = data[0] % 2 == 0 ? data::Compression::gzip : data::Compression::zstd;
  const std::string_view bytes = fuzz::as_text(data + 1, size - 1);
  const std::string at_once = outcome(compression, bytes, std::size_t{1} << 20, std::size_t{1} << 20);
  const std::string in_pieces = outcome(compression, bytes, 7, 1 + data[0]);
  if (at_once.size() == most_text || in_pieces.size() == most_text) return 0;  // an error may come just behind
  fuzz::require(in_pieces == at_once, "the size of pieces changes nothing");
  return 0;
}
