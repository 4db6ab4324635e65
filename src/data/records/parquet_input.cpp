#include "data/records/parquet_input.hpp"

#include "data/records/json_line_parser.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

namespace monomorph::data {
namespace {

/// Set once, before anything is read.
ParquetReader& the_reader() {
  static ParquetReader reader = nullptr;
  return reader;
}

}  // namespace

bool is_parquet_name(std::string_view path) { return path.ends_with(".parquet"); }

Columns columns_of(const std::vector<FieldPointer>& fields) {
  Columns columns;
  for (const FieldPointer& field : fields) {
    if (field.steps().empty()) return {};  // the whole record
    columns.push_back(field.steps().front());
  }
  return columns;
}

std::unique_ptr<TextSource> open_parquet(const std::string& path, const Columns& columns) {
  if (the_reader() != nullptr) return the_reader()(path, columns);
  throw UsageError("DATA-76", in_quotes(path) +
                                  " is a Parquet file, and this program was built without Arrow, which reads them; run "
                                  "tools/setup/install --parquet, configure and build again, or write the file as JSON "
                                  "Lines");
}

void read_parquet_with(ParquetReader reader) { the_reader() = reader; }

}  // namespace monomorph::data
