#include "data/records/skip_report.hpp"

#include <monomorph/data/records/input_list.hpp>

namespace monomorph::data {

SkipReport::SkipReport(const std::vector<std::string>& inputs, OnError on_error, const std::string& path)
    : name_(data::name_of_inputs(inputs)), origin_(inputs) {
  if (on_error == OnError::skip) file_.emplace(path);
}

void SkipReport::add(const LineBlock& block, std::int64_t n_lines, std::span<const LineFailure> failures) {
  origin_.begin(block, n_lines);
  for (const LineFailure& failure : failures) {
    const std::int64_t line_number = n_lines + failure.line_in_block + 1;
    if (!file_) origin_.throw_failure(failure, line_number);
    if (n_skipped_++ == 0) first_ = {line_number, failure.problem.reason};
    file_->write(origin_.report_line(failure, line_number));
  }
}

}  // namespace monomorph::data
