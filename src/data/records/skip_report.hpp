#pragma once
#include "data/records/line_block.hpp"
#include "data/records/line_failure.hpp"
#include "data/records/line_origin.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/records/on_error.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// Puts an output and the report that belongs to it in their places, or neither. Both are on the disk before either is.
template <class Output> void commit_with_report(Output& output, std::optional<AtomicFile>& report) {
  output.finish();
  if (!report) return output.commit();
  report->finish();
  report->commit();
  try {
    output.commit();
  } catch (...) {
    report->withdraw();
    throw;
  }
}

/// What becomes of lines that are no documents: the first is an error, or all are listed in a report.
class SkipReport {
 public:
  /// @param inputs for messages   @param path of the report, if there is to be one
  SkipReport(const std::vector<std::string>& inputs, OnError on_error, const std::string& path);

  /// Takes the failures of a block, in the order of the lines; throws the first if no line may be skipped.
  /// @param n_lines of all blocks before this one
  void add(const LineBlock& block, std::int64_t n_lines, std::span<const LineFailure> failures);
  std::int64_t n_skipped() const noexcept { return n_skipped_; }
  /// For messages about all inputs.
  const std::string& name_of_inputs() const noexcept { return name_; }
  /// @throws [DATA-21]
  [[noreturn]] void throw_all_skipped() const { data::throw_all_skipped(name_, n_skipped_, first_); }
  template <class Output> void commit_with(Output& output) { commit_with_report(output, file_); }

 private:
  std::string name_;
  LineOrigin origin_;
  std::optional<AtomicFile> file_;
  std::int64_t n_skipped_ = 0;
  SkippedLine first_{};
};

}  // namespace monomorph::data
