#pragma once
#include "data/records/text_lines.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::data {

/// Whether a file of this name holds comma-separated values, compressed or not.
bool is_csv_name(std::string_view path);

/// Values in the order in which they stand.
struct CsvRecord {
  std::int64_t line;  ///< on which it begins, from 1
  std::vector<std::string> fields;
};

/// The records of a file of comma-separated values (RFC 4180) in turn. A field in quotation marks may hold commas, ends
/// of lines, and quotation marks as two; a quotation mark within any other field is a character. Empty lines between
/// records, and a byte order mark before the first, are left out. Nothing is taken for a row of names.
class CsvRecords {
 public:
  /// @throws as TextInput
  explicit CsvRecords(const std::string& path) : lines_(path) {}
  /// Nothing at the end.   @throws UsageError [DATA-80] a record is cut short, malformed or too large; as
  /// TextLines::next
  std::optional<CsvRecord> next();

 private:
  TextLines lines_;
};

}  // namespace monomorph::data
