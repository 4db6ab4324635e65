#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/stream_clock.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph {

/// The row of copies between memories that have streams of their own. It is behind the rows that every rank has.
inline constexpr TraceRow copies_row{static_cast<int>(TraceRow::all_reduce) + 1};

/// Seconds of compute, by kind of work: what its kernels took, how long it waited, and what lies between.
struct WorkSeconds {
  double products = 0, attention = 0, elementwise = 0, loss = 0, optimizer = 0;
  double copies = 0;       ///< that compute made itself or waited for
  double collectives = 0;  ///< that compute waited for: they were exposed
  double data = 0;         ///< that compute waited for
  double other = 0;        ///< gaps between kernels, and what the host does where it computes
  double whole() const {
    return products + attention + elementwise + loss + optimizer + copies + collectives + data + other;
  }
};

/// Records when a rank computed, when its collectives ran, and when compute waited for them. Without a clock of a
/// device these are times of the host, and several threads may add events at the same time. With one, events are of its
/// streams, one thread adds them, and their times are known when the device has come to them.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Event {
    TraceRow row;
    const char* what;
    int unit;
    Clock::time_point begin, end;
    Work work = Work::several;
  };

  Trace() = default;
  explicit Trace(std::unique_ptr<StreamClock> clock) : clock_(std::move(clock)) {}
  Trace(const Trace&) = delete;
  ~Trace();

  /// @param unit no_unit for what belongs to no single unit
  void add(TraceRow row, const char* what, int unit, Clock::time_point begin, Clock::time_point end,
           Work work = Work::several);

  /// Begins an event, on a stream of the device if there is one.   @return to be given to end()
  std::int64_t begin(TraceRow row, void* stream);
  void end(TraceRow row, const char* what, int unit, std::int64_t begin, void* stream, Work work = Work::several);
  /// The row of what runs on a stream: that of the events that have begun there.
  TraceRow row_of(void* stream) const;

  /// The fraction of the collectives' time in which compute did not wait for them: 1 if it never waited, 0 without
  /// collectives.
  double overlap_fraction();
  /// Of an event of the row compute: what lies within it, and `other` for the rest of it.   @return absent if there is
  /// no such event, or the device has not come to its end
  std::optional<WorkSeconds> work_seconds(std::string_view what, int unit);
  /// For chrome://tracing and Perfetto: a process for the rank, a row for each kind. Waits for the device.
  /// @throws [FILE-…]
  void write(const std::string& path, int rank);
  /// Forgets all events.
  void clear();

  /// In the order in which they ended, on each row. Waits for the device. No
  /// event may be added meanwhile.
  const std::vector<Event>& events();

 private:
  /// An event whose times the device has not told yet, by the numbers of its two moments.
  struct Pending {
    Event event;
    std::size_t begin, end;
  };
  void settle(bool waits);
  double seconds_of(TraceRow row) const;

  std::unique_ptr<StreamClock> clock_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<Pending> pending_;
  std::size_t n_asked_ = 0;
  std::vector<std::int64_t> moments_;  ///< by number, as of StreamClock::read
  std::vector<std::pair<void*, TraceRow>> rows_;
};

/// The trace records the kernels that this thread calls from now on; null: none does any more.
void record_thread(Trace* trace);

}  // namespace monomorph
