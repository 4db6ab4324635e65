#include "data/records/skip_report.hpp"

namespace monomorph::data {

void SkipReport::add(const LineFailure& failure, std::int64_t line_number) {
  if (!file_) throw_failure(failure, line_number, input_);
  if (n_skipped_++ == 0) first_ = {line_number, failure.problem.reason};
  file_->write(report_line(failure, line_number));
}

}  // namespace monomorph::data
