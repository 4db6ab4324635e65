#include <monomorph/runtime/machine/trace.hpp>

#include <monomorph/core/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph {
namespace {

constexpr const char* row_names[] = {"compute", "waiting for collectives", "gathers", "reductions",
                                     "sums of a few numbers"};

}  // namespace

std::int64_t TraceSpan::now() { return Trace::Clock::now().time_since_epoch().count(); }

void TraceSpan::add() const {
  const Trace::Clock::time_point begin{Trace::Clock::duration{begin_}};
  trace_->add(row_, what_, unit_, begin, Trace::Clock::now());
}

void Trace::add(TraceRow row, const char* what, int unit, Clock::time_point begin, Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  events_.push_back({row, what, unit, begin, end});
}

double Trace::seconds_of(TraceRow row) const {
  Clock::duration sum{};
  for (const Event& event : events_)
    if (event.row == row) sum += event.end - event.begin;
  return std::chrono::duration<double>(sum).count();
}

double Trace::overlap_fraction() const {
  const std::lock_guard lock(mutex_);
  const double collectives =
      seconds_of(TraceRow::all_gather) + seconds_of(TraceRow::reduce_scatter) + seconds_of(TraceRow::all_reduce);
  return collectives > 0 ? std::clamp(1 - seconds_of(TraceRow::waiting) / collectives, 0.0, 1.0) : 0;
}

void Trace::write(const std::string& path, int rank) const {
  const std::lock_guard lock(mutex_);
  std::string text = "{\"traceEvents\": [\n";
  for (int row = 0; row < static_cast<int>(std::size(row_names)); ++row)
    text += fmt::format(
        "{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": \"{}\"}}}},\n",
        rank, row, row_names[row]);
  text +=
      fmt::format("{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {0}, \"args\": {{\"name\": \"rank {0}\"}}}}",
                  rank);
  const auto microseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  for (const Event& event : events_)
    text += fmt::format(
        ",\n{{\"name\": \"{}{}\", \"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}}}",
        event.what, event.unit == no_unit ? "" : fmt::format(" {}", event.unit), rank, static_cast<int>(event.row),
        microseconds(event.begin.time_since_epoch()), microseconds(event.end - event.begin));
  write_text_file(path, text + "\n]}\n");
}

}  // namespace monomorph
