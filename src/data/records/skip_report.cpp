#include "data/records/skip_report.hpp"

namespace monomorph::data {

void SkipReport::add(const LineFailure& failure, std::int64_t line_number) {
  if (!file_) throw_failure(failure, line_number, input_);
  const std::string line = report_line(failure, line_number);
  if (n_skipped_++ == 0) first_line_ = line;
  file_->write(line);
}

}  // namespace monomorph::data
