#include "data/records/skipped_lines.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::data {
namespace {

/// The number of the line that an entry is about; 0 if it is none.
std::int64_t line_of(std::string_view entry) {
  const nlohmann::json json = parsed_json(entry);
  const auto line = json.is_object() ? json.find("line") : json.end();
  return line != json.end() && line->is_number_integer() ? line->get<std::int64_t>() : 0;
}

}  // namespace

SkippedLines::SkippedLines(const std::string& report) : report_(report) { read_next(); }

bool SkippedLines::contains(std::int64_t line) {
  if (line != next_) return false;
  read_next();
  return true;
}

void SkippedLines::read_next() {
  const std::int64_t last = next_;
  const auto entry = report_.next();
  next_ = entry ? line_of(entry->text) : 0;
  if (!entry || next_ > last) return;
  throw UsageError("DATA-53",
                   fmt::format("line {} of {} names no line after those before it; give the report that packing wrote",
                               entry->number, in_quotes(report_.path())));
}

}  // namespace monomorph::data
