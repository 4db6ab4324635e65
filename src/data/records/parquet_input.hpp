#pragma once
#include "data/records/text_source.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

class FieldPointer;

/// By the end of the name: .parquet.
bool is_parquet_name(std::string_view path);

/// The columns of a table that are read, those of them that it has; none named: all that JSON has values for.
using Columns = std::vector<std::string>;
/// The columns in which these fields of a record lie.
Columns columns_of(const std::vector<FieldPointer>& fields);

/// The rows of a Parquet file as lines of JSON, by Arrow, a large library with which a module is linked that is opened
/// for the first of them.
/// @throws UsageError [DATA-76] there is no such module, as Arrow is optional; what the reader throws
std::unique_ptr<TextSource> open_parquet(const std::string& path, const Columns& columns);

/// What the module exports.
using ParquetReader = std::unique_ptr<TextSource> (*)(const std::string& path, const Columns& columns);

}  // namespace monomorph::data
