#pragma once
#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>

namespace monomorph::data {

/// Whether JSON has values for a column of this type: texts, numbers, true and false, and lists and structs of these.
/// Not for times, decimals and maps, which every writer puts into JSON in a way of its own. Binary values are taken for
/// text.
bool has_json_values(const arrow::DataType& type);

/// Appends a value as JSON writes it. What is missing is null, but a member of a struct, which is left out: a table has
/// every member in every row, so that null stands there for what a record did not have.
/// @param values of a type that has JSON values   @throws parquet::ParquetException one is not in its dictionary
void append_json(const arrow::Array& values, std::int64_t row, std::string& to);

/// Appends `"name":value`, behind a comma unless it is the first; nothing if the value is missing.
void append_member(const std::string& name, const arrow::Array& values, std::int64_t row, bool& is_first,
                   std::string& to);

}  // namespace monomorph::data
