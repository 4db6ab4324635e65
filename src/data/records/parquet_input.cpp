#include "data/records/parquet_input.hpp"

#include "core/module.hpp"
#include "data/records/json_line_parser.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <stdexcept>

namespace monomorph::data {
namespace {

/// @throws UsageError [DATA-76]
ParquetReader find_reader(const std::string& path) {
  std::string reason = "Monomorph was built without it";
  try {
    if (const void* const found = find_in_module("libmonomorph_parquet.so", "monomorph_parquet_reader"))
      return *static_cast<const ParquetReader*>(found);
  } catch (const std::runtime_error& failure) {
    reason = failure.what();
  }
  throw UsageError("DATA-76",
                   fmt::format("{} is a Parquet file, and Arrow, which reads them, is not to be had ({}); run "
                               "tools/setup/install --parquet in Monomorph's folder, configure and build it "
                               "again, or write the file as JSON Lines",
                               in_quotes(path), reason));
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
  return find_reader(path)(path, columns);
}

}  // namespace monomorph::data
