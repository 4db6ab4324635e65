// Parquet files: the rows of a table that is accepted are lines of JSON, unless a text in one is not UTF-8, which
// whoever reads lines refuses.
#include "data/parquet/parquet_text.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <nlohmann/json.hpp>

#include "memory_file.hpp"

using namespace monomorph;

namespace {

constexpr std::size_t most_text = std::size_t{1} << 20;

/// What a table says, or as much as there may be of it.
std::string text_of(data::TextSource& table) {
  std::string text, piece(1000, '\0');
  while (text.size() < most_text) {
    const std::size_t n = table.read_some(piece.data(), piece.size());
    if (n == 0) return text;
    text.append(piece, 0, n);
  }
  return text.substr(0, text.rfind('\n') + 1);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  return fuzz::refusing([&] {
    std::istringstream rows(text_of(*data::open_parquet_text(file.path(), {})));
    for (std::string row; std::getline(rows, row);)
      if (data::valid_utf8_prefix(row) == row.size())
        fuzz::require(nlohmann::json::accept(row), "a row is a line of JSON");
  });
}
