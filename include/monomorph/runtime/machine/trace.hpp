#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace monomorph {

/// Records when a rank computed, when its collectives ran, and when compute waited for them. Several threads may add
/// events at the same time.
class Trace {
 public:
  enum class Row { compute, waiting, all_gather, reduce_scatter, all_reduce };
  using Clock = std::chrono::steady_clock;
  static constexpr int no_unit = -1;
  struct Event {
    Row row;
    const char* what;
    int unit;
    Clock::time_point begin, end;
  };

  /// @param unit no_unit for what belongs to no single unit
  void add(Row row, const char* what, int unit, Clock::time_point begin, Clock::time_point end);

  /// The fraction of the collectives' time in which compute did not wait for them: 1 if it never waited, 0 without
  /// collectives.
  double overlap_fraction() const;
  /// For chrome://tracing and Perfetto: a process for the rank, a row for each kind.   @throws [FILE-…]
  void write(const std::string& path, int rank) const;

  /// In the order in which they ended. No event may be added meanwhile.
  const std::vector<Event>& events() const { return events_; }

 private:
  double seconds_of(Row row) const;

  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// Adds one event, from here to the end of the scope. Without a trace it does nothing.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, Trace::Row row, const char* what, int unit)
      : trace_(trace),
        row_(row),
        what_(what),
        unit_(unit),
        begin_(trace ? Trace::Clock::now() : Trace::Clock::time_point()) {}
  TraceSpan(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (trace_) trace_->add(row_, what_, unit_, begin_, Trace::Clock::now());
  }

 private:
  Trace* trace_;
  Trace::Row row_;
  const char* what_;
  int unit_;
  Trace::Clock::time_point begin_;
};

}  // namespace monomorph
