#include "data/records/line_failure.hpp"

#include "core/json_text.hpp"
#include "data/records/line_block.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::data {

LineProblem problem_of(const Error& error) { return {error.id(), std::string(error.text())}; }

LineFailure too_long_failure(std::uint64_t offset, std::uint64_t end_offset) {
  return {0,
          offset,
          end_offset - offset,
          {"DATA-20", fmt::format("the line is {} bytes long, more than {}; split the document", end_offset - offset,
                                  longest_line_bytes)}};
}

void throw_line_too_long(const std::string& path, std::int64_t number, std::size_t most_bytes) {
  throw Error("DATA-20", fmt::format("{}, line {}: the line is longer than {} bytes; split the document",
                                     in_quotes(path), number, most_bytes));
}

void throw_failure(const LineFailure& failure, std::int64_t line_number, const std::string& path) {
  const auto& [id, reason] = failure.problem;
  throw Error(id, fmt::format("{}, line {} (document {}, byte {}): {}{}", in_quotes(path), line_number, line_number,
                              failure.offset, reason, id == "DATA-02" ? "; every line must be one JSON value" : ""));
}

std::string report_line(const LineFailure& failure, std::int64_t line_number) {
  return fmt::format(R"({{"line":{},"offset":{},"length":{},"error":{},"reason":{}}})", line_number, failure.offset,
                     failure.length, json_string(failure.problem.id.text()), json_string(failure.problem.reason)) +
         "\n";
}

std::string report_line(const LineFailure& failure, std::int64_t line_number, const std::string& input,
                        std::int64_t line_of_input) {
  std::string line = report_line(failure, line_number);
  line.insert(line.size() - 2, fmt::format(R"(,"input":{},"input_line":{})", json_string(input), line_of_input));
  return line;
}

SkippedLine read_report_line(std::string_view line) {
  const auto record = parsed_json(line);
  return {record.at("line").get<std::int64_t>(), record.at("reason").get<std::string>()};
}

void throw_empty_input(const std::string& path) {
  throw UsageError("DATA-04", in_quotes(path) + " is empty; give a file with at least one document");
}

void throw_all_skipped(const std::string& path, std::int64_t n_lines, const SkippedLine& first) {
  throw Error("DATA-21", fmt::format("none of the {} lines of {} is a document; of line {}: {}", n_lines,
                                     in_quotes(path), first.number, first.reason));
}

}  // namespace monomorph::data
