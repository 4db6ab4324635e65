#pragma once
#include "data/records/parquet_input.hpp"

#include <memory>
#include <string>

namespace monomorph::data {

/// The rows of a Parquet file as lines of JSON, in order, read by Arrow. What is in memory is a page of each column and
/// a few rows.
/// @throws UsageError [DATA-77] the file has none of the columns, or JSON has no values for one; [DATA-70] it is
/// damaged or none; [DATA-78] it takes too much memory to read; [DATA-79] it is encrypted
std::unique_ptr<TextSource> open_parquet_text(const std::string& path, const Columns& columns);

}  // namespace monomorph::data
