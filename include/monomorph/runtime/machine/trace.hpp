#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace monomorph {

/// What a rank did when: compute, collectives, and compute that waited for them. Threads may add to it at once.
class Trace {
 public:
  enum class Row { compute, waiting, gather, reduce, sum };
  using Clock = std::chrono::steady_clock;
  static constexpr int no_unit = -1;
  struct Event {
    Row row;
    const char* what;
    int unit;
    Clock::time_point begin, end;
  };

  /// @param unit no_unit for what is of all
  void add(Row row, const char* what, int unit, Clock::time_point begin, Clock::time_point end);

  /// Of the time of all collectives, the part that compute did not wait for: 1 if it never waited. 0 without any.
  double hidden_share() const;
  /// For chrome://tracing and Perfetto: a process for the rank, a row for each kind.   @throws [FILE-…]
  void write(const std::string& path, int rank) const;

  /// In the order of their ends. Nothing may be on its way.
  const std::vector<Event>& events() const { return events_; }

 private:
  double seconds_of(Row row) const;

  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// One event, from here to the end of the scope; nothing without a trace.
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
