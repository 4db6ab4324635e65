#include <monomorph/runtime/machine/trace.hpp>

#include <monomorph/core/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph {
namespace {

constexpr const char* row_names[] = {"compute",    "waiting for collectives", "gathers",
                                     "reductions", "sums of a few numbers",   "copies between memories"};

/// As kernels_trace, but within kernels, too.
constinit thread_local Trace* trace_of_thread = nullptr;

Trace::Clock::time_point at(std::int64_t ticks) { return Trace::Clock::time_point{Trace::Clock::duration{ticks}}; }
std::int64_t ticks_of(Trace::Clock::time_point time) { return time.time_since_epoch().count(); }

/// Where the time of an event counts; null: nowhere, as it holds others, or runs beside compute.
double* place_in(WorkSeconds& seconds, const Trace::Event& event) {
  if (event.row == TraceRow::waiting) return &seconds.collectives;
  if (event.row != TraceRow::compute) return nullptr;
  switch (event.work) {
    case Work::several:
      return nullptr;
    case Work::products:
      return &seconds.products;
    case Work::attention:
      return &seconds.attention;
    case Work::elementwise:
      return &seconds.elementwise;
    case Work::loss:
      return &seconds.loss;
    case Work::optimizer:
      return &seconds.optimizer;
    case Work::copies:
      return &seconds.copies;
    case Work::data:
      return &seconds.data;
  }
  __builtin_unreachable();
}

double seconds_between(Trace::Clock::time_point begin, Trace::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void record_thread(Trace* trace) { kernels_trace = trace_of_thread = trace; }

std::int64_t TraceSpan::now() {
  if (trace_of_thread != nullptr) return trace_of_thread->begin(TraceRow::compute, nullptr);
  return ticks_of(Trace::Clock::now());
}
void TraceSpan::add() const { trace_->end(row_, what_, unit_, begin_, nullptr); }

StreamSpan::StreamSpan(Trace* trace, TraceRow row, const char* what, int unit, void* stream, Work work)
    : trace_(trace),
      row_(row),
      what_(what),
      unit_(unit),
      stream_(stream),
      work_(work),
      begin_(trace == nullptr ? 0 : trace->begin(row, stream)) {}
StreamSpan::~StreamSpan() {
  if (trace_ != nullptr) trace_->end(row_, what_, unit_, begin_, stream_, work_);
}

/// Kernels within find no trace, and are part of this one.
void KernelSpan::begin(Work work, const char* kernel, void* stream) {
  trace_ = std::exchange(kernels_trace, nullptr);
  work_ = work;
  kernel_ = kernel;
  stream_ = stream;
  begin_ = trace_->begin(trace_->row_of(stream), stream);
}
void KernelSpan::end() {
  trace_->end(trace_->row_of(stream_), kernel_, no_unit, begin_, stream_, work_);
  kernels_trace = trace_;
}

Trace::~Trace() {
  if (trace_of_thread == this) record_thread(nullptr);
}

void Trace::add(TraceRow row, const char* what, int unit, Clock::time_point begin, Clock::time_point end, Work work) {
  const std::lock_guard lock(mutex_);
  events_.push_back({row, what, unit, begin, end, work});
}

std::int64_t Trace::begin(TraceRow row, void* stream) {
  if (!clock_) return ticks_of(Clock::now());
  if (row != row_of(stream) && stream != nullptr) rows_.emplace_back(stream, row);
  clock_->ask(stream);
  return static_cast<std::int64_t>(n_asked_++);
}

void Trace::end(TraceRow row, const char* what, int unit, std::int64_t begin, void* stream, Work work) {
  const Event event{row, what, unit, at(begin), Clock::now(), work};
  const std::lock_guard lock(mutex_);
  if (!clock_) return events_.push_back(event);
  if (static_cast<std::size_t>(begin) >= n_asked_) return;  // it began before this trace was the thread's, or cleared
  clock_->ask(stream);
  pending_.push_back({event, static_cast<std::size_t>(begin), n_asked_++});
}

TraceRow Trace::row_of(void* stream) const {
  const auto found = std::ranges::find(rows_, stream, &std::pair<void*, TraceRow>::first);
  return found == rows_.end() ? TraceRow::compute : found->second;
}

void Trace::settle(bool waits) {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) return;
  clock_->read(moments_, waits);
  std::erase_if(pending_, [&](const Pending& pending) {
    const std::int64_t begin = moments_[pending.begin], end = moments_[pending.end];
    if (begin == StreamClock::unknown || end == StreamClock::unknown) return false;
    events_.push_back(pending.event);
    events_.back().begin = at(begin), events_.back().end = at(end);
    return true;
  });
}

void Trace::clear() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  pending_.clear();
  moments_.clear();
  n_asked_ = 0;
  if (clock_) clock_->forget();
}

const std::vector<Trace::Event>& Trace::events() {
  settle(true);
  return events_;
}

double Trace::seconds_of(TraceRow row) const {
  double sum = 0;
  for (const Event& event : events_)
    if (event.row == row && event.work == Work::several) sum += seconds_between(event.begin, event.end);
  return sum;
}

double Trace::overlap_fraction() {
  settle(true);
  const std::lock_guard lock(mutex_);
  const double collectives =
      seconds_of(TraceRow::all_gather) + seconds_of(TraceRow::reduce_scatter) + seconds_of(TraceRow::all_reduce);
  return collectives > 0 ? std::clamp(1 - seconds_of(TraceRow::waiting) / collectives, 0.0, 1.0) : 0;
}

/// What compute does, and what it waits for, follow each other on one stream, or thread.
std::optional<WorkSeconds> Trace::work_seconds(std::string_view what, int unit) {
  settle(false);
  const std::lock_guard lock(mutex_);
  const auto whole = std::ranges::find_if(events_, [&](const Event& event) {
    return event.row == TraceRow::compute && event.unit == unit && event.what == what;
  });
  if (whole == events_.end()) return std::nullopt;
  WorkSeconds seconds;
  for (const Event& event : events_)
    if (double* const place = place_in(seconds, event);
        place != nullptr && whole->begin <= event.begin && event.end <= whole->end)
      *place += seconds_between(event.begin, event.end);
  seconds.other = std::max(0.0, seconds_between(whole->begin, whole->end) - seconds.whole());
  return seconds;
}

void Trace::write(const std::string& path, int rank) {
  settle(true);
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
