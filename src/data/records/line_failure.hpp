#pragma once
#include "data/records/json_line_parser.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/records/on_error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// A line that is no document.
struct LineFailure {
  std::int64_t line_in_block;  ///< from 0
  std::uint64_t offset, length;
  LineProblem problem;
};

/// After so many failures they are handed on before work on the block continues, as all of its hundred thousand lines
/// may fail.
inline constexpr std::size_t most_failures_at_once = 1024;

/// The problem of a line that an Error tells of.
LineProblem problem_of(const Error& error);

/// The problem of a line that is longer than any may be.
LineFailure too_long_failure(std::uint64_t offset, std::uint64_t end_offset);

/// Throws the failure as an Error that names line and byte.
/// @param line_number from 1
[[noreturn]] void throw_failure(const LineFailure& failure, std::int64_t line_number, const std::string& path);

/// The failure as a line of a report: one JSON object and a newline.
std::string report_line(const LineFailure& failure, std::int64_t line_number);

/// The same of one of several inputs: the line as it would be counted if all were one, and where it is in its own.
std::string report_line(const LineFailure& failure, std::int64_t line_number, const std::string& input,
                        std::int64_t line_of_input);

/// What a line of a report says that messages repeat.
struct SkippedLine {
  std::int64_t number;  ///< from 1
  std::string reason;
};
/// Reads back what report_line has written: work that is resumed has its report alone of what it did before.
SkippedLine read_report_line(std::string_view line);

[[noreturn]] void throw_empty_input(const std::string& path);
/// @throws [DATA-21], saying why the first line that was skipped is no document
[[noreturn]] void throw_all_skipped(const std::string& path, std::int64_t n_lines, const SkippedLine& first);

}  // namespace monomorph::data
