// Comma-separated values: what is read of a file is read again, field for field, after it has been written with every
// field in quotation marks; and lines are counted upwards.
#include "data/records/csv_records.hpp"

#include "memory_file.hpp"

using namespace monomorph;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_in(const std::string& path) {
  Rows rows;
  std::int64_t line = 0;
  data::CsvRecords records(path);
  while (auto record = records.next()) {
    fuzz::require(record->line > line, "a record begins behind the one before");
    fuzz::require(!record->fields.empty(), "a record has a field");
    line = record->line;
    rows.push_back(std::move(record->fields));
  }
  return rows;
}

std::string written(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (const std::string& field : row) {
      text += '"';
      for (const char character : field) text.append(character == '"' ? 2 : 1, character);
      text += "\",";
    }
    text.back() = '\n';
  }
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  return fuzz::refusing([&] {
    const Rows rows = rows_in(file.path());
    const std::string text = written(rows);
    const fuzz::MemoryFile again(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    fuzz::require(rows_in(again.path()) == rows, "what is written again is what was read");
  });
}
