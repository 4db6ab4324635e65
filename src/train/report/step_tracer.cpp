#include "train/report/step_tracer.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <utility>

namespace monomorph::train {
namespace {

constexpr const char* step_name = "step";

std::unique_ptr<StreamClock> new_clock() {
  return stream_clock_of_device == nullptr ? nullptr : stream_clock_of_device();
}

}  // namespace

StepTracer::StepTracer(Communicator& communicator, std::int64_t last_step, std::int64_t n_steps, std::string run_folder)
    : communicator_(communicator),
      first_(last_step + 2),
      n_steps_(n_steps),
      present_(last_step),
      run_folder_(std::move(run_folder)),
      trace_(n_steps == 0 ? nullptr : new_clock()),
      sampled_steps_{Trace(new_clock()), Trace(new_clock())} {}

void StepTracer::record(Trace* trace) {
  communicator_.record(trace);
  record_thread(trace);
}

std::optional<std::string> StepTracer::step_begins(bool is_sampled) {
  ++present_;
  std::optional<std::string> line;
  if (traces(present_ - 1) && !traces(present_)) line = complete(present_ - 1);
  recording_ = traces(present_) ? &trace_ : nullptr;
  if (recording_ == nullptr && is_sampled) {
    recording_ = &sampled_steps_[static_cast<std::size_t>(next_sampled_)];
    next_sampled_ = 1 - next_sampled_;
    recording_->clear();
  }
  if (present_sample_) last_sample_ = std::exchange(present_sample_, std::nullopt);
  if (is_sampled) present_sample_ = Sample{recording_, present_};
  record(recording_);
  if (recording_ != nullptr) begin_ = recording_->begin(TraceRow::compute, nullptr);
  return line;
}

/// What comes before the next step is traced, too, but is no part of a step.
void StepTracer::step_ends() {
  if (recording_ == nullptr) return;
  recording_->end(TraceRow::compute, step_name, static_cast<int>(present_), begin_, nullptr);
  if (recording_ != &trace_) record(nullptr);
}

std::optional<WorkSeconds> StepTracer::take_sample() {
  const std::optional<Sample> sample = std::exchange(last_sample_, std::nullopt);
  return sample ? sample->trace->work_seconds(step_name, static_cast<int>(sample->step)) : std::nullopt;
}

std::optional<std::string> StepTracer::run_ends() {
  if (traces(present_)) return complete(present_);
  if (n_steps_ > 0 && present_ < first_)
    return "no step was traced: the first of a run never is, and there was no other";
  return std::nullopt;
}

/// A trace that cannot be written is no reason to end a run.
std::string StepTracer::complete(std::int64_t last_traced) try {
  record(nullptr);
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
