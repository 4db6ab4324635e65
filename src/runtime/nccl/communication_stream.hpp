#pragma once
#include "runtime/nccl/watchdog.hpp"

#include <monomorph/runtime/machine/kernel_span.hpp>

#include <deque>

namespace monomorph::cuda {

/// A stream on which collectives run beside the kernels of a queue, ordered with them by events.
class CommunicationStream {
 public:
  CommunicationStream(CUstream_st* compute, Watchdog& watchdog);
  CommunicationStream(const CommunicationStream&) = delete;
  /// What it was given may still run: its memory and its groups of ranks are for others to keep.
  ~CommunicationStream();

  CUstream_st* stream() const { return stream_; }
  /// What a trace, if there is one, calls a collective.
  struct Traced {
    Trace* trace;
    TraceRow row;
    const char* what;
  };
  /// What this stream is given from now on runs behind what the queue has been given so far.
  void after_compute();
  /// Calls give(), which puts a unit's collective on this stream.
  template <class Give> void run(const Watchdog::Purpose& purpose, const Traced& traced, Give give) {
    {
      const StreamSpan span(traced.trace, traced.row, traced.what, purpose.unit, stream_);
      watchdog_.watch(purpose, stream_, give);
    }
    done(purpose.unit);
  }
  /// What the queue is given from now on runs when the last collective of the unit is done.
  void before_compute(int unit);
  /// Nothing that it was given is waited for any more.
  void forget();

 private:
  void done(int unit);

  CUstream_st *compute_, *stream_ = nullptr;
  Watchdog& watchdog_;
  cudaEvent_t computed_ = nullptr;
  /// A unit's last collective.
  struct Last {
    cudaEvent_t done = nullptr;  ///< null if it had none
    bool is_waited_for = true;   ///< by the queue
  };
  std::deque<Last> last_;  ///< by unit
};

}  // namespace monomorph::cuda
