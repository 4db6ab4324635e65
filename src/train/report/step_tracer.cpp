#include "train/report/step_tracer.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::train {

StepTracer::StepTracer(Communicator& communicator, std::int64_t last_step, std::int64_t n_steps, std::string run_folder)
    : communicator_(communicator),
      first_(last_step + 2),
      n_steps_(n_steps),
      present_(last_step),
      run_folder_(std::move(run_folder)) {}

std::optional<std::string> StepTracer::step_begins() {
  ++present_;
  if (n_steps_ == 0) return std::nullopt;
  if (present_ == first_) {
    communicator_.record(&trace_);
    records_ = true;
  }
  if (!records_ || present_ < first_ + n_steps_) return std::nullopt;
  return complete(present_ - 1);
}

std::optional<std::string> StepTracer::run_ends() {
  if (records_) return complete(present_);
  if (n_steps_ > 0 && present_ < first_)
    return "no step was traced: the first of a run never is, and there was no other";
  return std::nullopt;
}

/// A trace that cannot be written is no reason to end a run.
std::string StepTracer::complete(std::int64_t last_traced) try {
  communicator_.record(nullptr);
  records_ = false;
  const std::string file = fmt::format("{}/trace_rank_{:05}.json", run_folder_, communicator_.rank());
  trace_.write(file, communicator_.rank());
  const std::string hidden = communicator_.size() == 1
                                 ? ""
                                 : fmt::format("; {:.0f} % of the collectives' time was hidden behind compute",
                                               100 * trace_.overlap_fraction());
  return first_ == last_traced ? fmt::format("traced step {}: {}{}", first_, file, hidden)
                               : fmt::format("traced steps {} to {}: {}{}", first_, last_traced, file, hidden);
} catch (const Error& failure) {
  return fmt::format("warning: the trace is lost: {}", failure.what());
}

}  // namespace monomorph::train
