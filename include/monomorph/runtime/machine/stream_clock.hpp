#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace monomorph {

/// When a device comes to places of its streams. The host asks for a moment when it gives the stream what lies around
/// it, and learns later when it was: asking makes nobody wait. Of one thread.
class StreamClock {
 public:
  virtual ~StreamClock() = default;
  /// Asks for the moment at which the stream has done all that it was given so far.   @param stream null: the one that
  /// computes. Where the device has failed the moment stays unknown: what it is given next will say so.
  virtual void ask(void* stream) noexcept = 0;
  /// What is known of the moments, in the order in which they were asked for since forget(): in ticks of Trace::Clock,
  /// or `unknown`.   @param waits for all of them
  virtual void read(std::vector<std::int64_t>& moments, bool waits) = 0;
  static constexpr std::int64_t unknown = -1;
  virtual void forget() = 0;
};

/// Makes a clock of this process's device. Null where kernels run as they are called; a device whose kernels run later
/// sets it when it is first used.
using StreamClockMaker = std::unique_ptr<StreamClock> (*)();
inline constinit StreamClockMaker stream_clock_of_device = nullptr;

}  // namespace monomorph
