#pragma once
#include "data/records/line_failure.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/records/on_error.hpp>

#include <cstdint>
#include <optional>
#include <string>

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
  /// @param input for messages   @param path of the report, if there is to be one
  SkipReport(const std::string& input, OnError on_error, const std::string& path) : input_(input) {
    if (on_error == OnError::skip) file_.emplace(path);
  }

  /// Throws the failure if no line may be skipped.
  void add(const LineFailure& failure, std::int64_t line_number);
  std::int64_t n_skipped() const noexcept { return n_skipped_; }
  /// @throws [DATA-21]
  [[noreturn]] void throw_all_skipped() const { data::throw_all_skipped(input_, n_skipped_, first_); }
  template <class Output> void commit_with(Output& output) { commit_with_report(output, file_); }

 private:
  const std::string& input_;
  std::optional<AtomicFile> file_;
  std::int64_t n_skipped_ = 0;
  SkippedLine first_{};
};

}  // namespace monomorph::data
