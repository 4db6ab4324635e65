#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/json_lines.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

using nlohmann::json;

[[noreturn]] void throw_broken_line(const Line& line, const std::string& path, const std::string& reason) {
  throw Error(fmt::format("[DATA-02] {}, line {} (byte {}): {}; every line must be one JSON value", in_quotes(path),
                          line.number, line.offset, reason));
}

void refuse_blank(const Line& line, const std::string& path) {
  if (line.text.find_first_not_of(" \t\r") == std::string_view::npos)
    throw_broken_line(line, path, "the line is blank");
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.substr(0, 300);
}

}  // namespace

void check_json_line(const Line& line, const std::string& path) {
  refuse_blank(line, path);
  if (!json::accept(line.text)) throw_broken_line(line, path, "this is not JSON in UTF-8");
}

struct TextField::Pointer {
  json::json_pointer value;
};

TextField::TextField(std::string pointer) : text_(std::move(pointer)) {
  try {
    pointer_ = std::make_unique<Pointer>(Pointer{json::json_pointer(text_)});
  } catch (const json::exception&) {
    throw UsageError(
        fmt::format("[DATA-10] the field {} is no JSON Pointer; write it like /text or /meta/text", in_quotes(text_)));
  }
}

TextField::TextField(TextField&&) noexcept = default;
TextField& TextField::operator=(TextField&&) noexcept = default;
TextField::~TextField() = default;

std::string TextField::of(const Line& line, const std::string& path) const {
  refuse_blank(line, path);
  json record;
  try {
    record = json::parse(line.text);
  } catch (const json::exception& failure) {
    throw_broken_line(line, path, one_line(failure.what()));
  }
  json* field = nullptr;
  try {
    field = &record.at(pointer_->value);
  } catch (const json::exception&) {
    throw Error(
        fmt::format("[DATA-03] {}, line {}: the record has no field {}; name the field of the text with --field",
                    in_quotes(path), line.number, in_quotes(text_)));
  }
  if (!field->is_string()) {
    throw Error(
        fmt::format("[DATA-03] {}, line {}: the field {} is a {}, not text; name the field of the text with "
                    "--field",
                    in_quotes(path), line.number, in_quotes(text_), field->type_name()));
  }
  return std::move(field->get_ref<std::string&>());
}

}  // namespace monomorph::data
