#include <monomorph/data/work/interruption.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <algorithm>

namespace monomorph::data {

WorkCounter::WorkCounter(const ProgressCallback& progress, std::uint64_t total_bytes)
    : progress_(progress), total_(total_bytes) {
  report();
}

void WorkCounter::add(std::uint64_t n_bytes) {
  constexpr std::uint64_t bytes_between_reports = std::uint64_t{1} << 20, calls_between_reports = 1 << 14;
  done_ += n_bytes;
  unreported_ += n_bytes;
  if (unreported_ >= bytes_between_reports || ++n_calls_ % calls_between_reports == 0) report();
}

void WorkCounter::report() {
  throw_if_interrupted();
  unreported_ = 0;
  if (progress_) progress_(total_ == 0 ? done_ : std::min(done_, total_), total_);
}

}  // namespace monomorph::data
