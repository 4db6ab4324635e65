#pragma once
#include <chrono>
#include <cstdint>
#include <monomorph/runtime/machine/trace_span.hpp>
#include <mutex>
#include <string>
#include <vector>

namespace monomorph {

/// Records when a rank computed, when its collectives ran, and when compute waited for them. Several threads may add
/// events at the same time.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Event {
    TraceRow row;
    const char* what;
    int unit;
    Clock::time_point begin, end;
  };

  /// @param unit no_unit for what belongs to no single unit
  void add(TraceRow row, const char* what, int unit, Clock::time_point begin, Clock::time_point end);

  /// The fraction of the collectives' time in which compute did not wait for them: 1 if it never waited, 0 without
  /// collectives.
  double overlap_fraction() const;
  /// For chrome://tracing and Perfetto: a process for the rank, a row for each kind.   @throws [FILE-…]
  void write(const std::string& path, int rank) const;

  /// In the order in which they ended. No event may be added meanwhile.
  const std::vector<Event>& events() const { return events_; }

 private:
  double seconds_of(TraceRow row) const;

  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace monomorph
