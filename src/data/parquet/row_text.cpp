#include "data/parquet/row_text.hpp"

#include <arrow/array.h>
#include <arrow/type.h>

#include <fmt/format.h>
#include <parquet/exception.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace monomorph::data {
namespace {

/// As they are, but for what may not stand in a string: bytes that are no UTF-8 are for the reader of the line to find.
void append_string(std::string_view text, std::string& to) {
  const auto must_be_escaped = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\'; };
  to += '"';
  while (true) {
    const auto found = std::find_if(text.begin(), text.end(), must_be_escaped);
    to.append(text.begin(), found);
    if (found == text.end()) break;
    if (*found == '\n')
      to += "\\n";
    else if (*found == '"' || *found == '\\')
      to.append({'\\', *found});
    else
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned char>(*found));
    text.remove_prefix(static_cast<std::size_t>(found - text.begin()) + 1);
  }
  to += '"';
}

/// The shortest text that reads back as the same number of the column's type, and as a floating-point one if it is one:
/// templates write 20.0 and 20 apart. JSON has none for infinities and for what is no number.
template <class Number>
requires std::is_arithmetic_v<Number>
void append_number(Number value, std::string& to) {
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) {
      to += "null";
      return;
    }
  char digits[32];
  const auto [end, failure] = std::to_chars(std::begin(digits), std::end(digits), value);
  to.append(digits, end);
  if constexpr (std::is_floating_point_v<Number>)
    if (std::string_view(digits, end).find_first_of(".e") == std::string_view::npos) to += ".0";
}

void append_list(const arrow::Array& values, std::int64_t begin, std::int64_t size, std::string& to) {
  to += '[';
  for (std::int64_t i = begin; i < begin + size; ++i) {
    if (i > begin) to += ',';
    append_json(values, i, to);
  }
  to += ']';
}

void append_struct(const arrow::StructArray& values, std::int64_t row, std::string& to) {
  bool is_first = true;
  to += '{';
  for (int i = 0; i < values.num_fields(); ++i)
    append_member(values.struct_type()->field(i)->name(), *values.field(i), row, is_first, to);
  to += '}';
}

/// Arrow takes indices from the file as they are there.
std::int64_t index_in_dictionary(const arrow::DictionaryArray& values, std::int64_t row) {
  const std::int64_t index = values.GetValueIndex(row);
  if (index < 0 || index >= values.dictionary()->length())
    throw parquet::ParquetException("a value is not in its dictionary");
  return index;
}

/// Calls `visit(values, value of a row)` for what is in an array of this type, and says whether JSON has values for it.
template <class Visit> bool visit_type(const arrow::DataType& type, Visit visit) {
  using arrow::Type;
  switch (type.id()) {
    case Type::NA:
      return visit.template operator()<arrow::NullArray>();
    case Type::BOOL:
      return visit.template operator()<arrow::BooleanArray>();
    case Type::INT8:
      return visit.template operator()<arrow::Int8Array>();
    case Type::INT16:
      return visit.template operator()<arrow::Int16Array>();
    case Type::INT32:
      return visit.template operator()<arrow::Int32Array>();
    case Type::INT64:
      return visit.template operator()<arrow::Int64Array>();
    case Type::UINT8:
      return visit.template operator()<arrow::UInt8Array>();
    case Type::UINT16:
      return visit.template operator()<arrow::UInt16Array>();
    case Type::UINT32:
      return visit.template operator()<arrow::UInt32Array>();
    case Type::UINT64:
      return visit.template operator()<arrow::UInt64Array>();
    case Type::FLOAT:
      return visit.template operator()<arrow::FloatArray>();
    case Type::DOUBLE:
      return visit.template operator()<arrow::DoubleArray>();
    case Type::STRING:
    case Type::BINARY:
      return visit.template operator()<arrow::BinaryArray>();
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return visit.template operator()<arrow::LargeBinaryArray>();
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return visit.template operator()<arrow::BinaryViewArray>();
    case Type::LIST:
      return visit.template operator()<arrow::ListArray>();
    case Type::LARGE_LIST:
      return visit.template operator()<arrow::LargeListArray>();
    case Type::FIXED_SIZE_LIST:
      return visit.template operator()<arrow::FixedSizeListArray>();
    case Type::STRUCT:
      return visit.template operator()<arrow::StructArray>();
    case Type::DICTIONARY:
      return visit.template operator()<arrow::DictionaryArray>();
    default:
      return false;
  }
}

template <class Values> void append_value(const Values& values, std::int64_t row, std::string& to) {
  if constexpr (std::is_same_v<Values, arrow::NullArray>)
    to += "null";
  else if constexpr (std::is_same_v<Values, arrow::BooleanArray>)
    to += values.Value(row) ? "true" : "false";
  else if constexpr (std::is_same_v<Values, arrow::StructArray>)
    append_struct(values, row, to);
  else if constexpr (std::is_same_v<Values, arrow::DictionaryArray>)
    append_json(*values.dictionary(), index_in_dictionary(values, row), to);
  else if constexpr (requires {
                       values.value_length(row);
                       values.values();
                     })
    append_list(*values.values(), values.value_offset(row), values.value_length(row), to);
  else if constexpr (requires { append_number(values.Value(row), to); })
    append_number(values.Value(row), to);
  else
    append_string(values.GetView(row), to);
}

}  // namespace

bool has_json_values(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY)
    return has_json_values(*static_cast<const arrow::DictionaryType&>(type).value_type());
  return visit_type(type, []<class Values> { return true; }) &&
         std::ranges::all_of(type.fields(), [](const auto& field) { return has_json_values(*field->type()); });
}

void append_json(const arrow::Array& values, std::int64_t row, std::string& to) {
  if (values.IsNull(row)) {
    to += "null";
    return;
  }
  visit_type(*values.type(), [&]<class Values> {
    append_value(static_cast<const Values&>(values), row, to);
    return true;
  });
}

void append_member(const std::string& name, const arrow::Array& values, std::int64_t row, bool& is_first,
                   std::string& to) {
  if (values.IsNull(row)) return;
  if (!is_first) to += ',';
  is_first = false;
  append_string(name, to);
  to += ':';
  append_json(values, row, to);
}

}  // namespace monomorph::data
