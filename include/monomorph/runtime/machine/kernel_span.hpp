#pragma once
#include <cstdint>
#include <monomorph/runtime/machine/trace_span.hpp>

namespace monomorph {

/// What a kernel does, or what compute waits for. The report of a step's time has a line for each of these kinds.
enum class Work {
  several,      ///< a span that contains others, or that runs beside compute
  products,     ///< of matrices, including those of experts
  attention,    ///< scores, their softmax, and values
  elementwise,  ///< norms, activations, positions, embeddings, dropout, routes of experts, sums
  loss,
  optimizer,  ///< the norm of the gradients, the decision by it, and updates
  copies,     ///< to and from the host's memory
  data        ///< waiting for the next batch
};

/// The trace that records the kernels of this thread, or null if none does. record_thread() sets it.
inline constinit thread_local Trace* kernels_trace = nullptr;

/// Records a kernel in the thread's trace, from here to the end of the scope. A kernel that another one calls is part
/// of that one and is no event of its own. Where nothing is recorded, a span costs one comparison.
class KernelSpan {
 public:
  /// @param stream of the device on which it runs; null: where compute does
  KernelSpan(Work work, const char* kernel, void* stream = nullptr) {
    if (kernels_trace != nullptr) begin(work, kernel, stream);
  }
  KernelSpan(const KernelSpan&) = delete;
  ~KernelSpan() {
    if (trace_ != nullptr) end();
  }

 private:
  void begin(Work work, const char* kernel, void* stream);
  void end();

  Trace* trace_ = nullptr;
  Work work_{};
  const char* kernel_ = nullptr;
  void* stream_ = nullptr;
  std::int64_t begin_ = 0;
};

/// A TraceSpan of what runs on a stream of a device. From then on the trace has that stream's kernels on the same row.
class StreamSpan {
 public:
  /// @param stream null: where compute is
  StreamSpan(Trace* trace, TraceRow row, const char* what, int unit, void* stream, Work work = Work::several);
  StreamSpan(const StreamSpan&) = delete;
  ~StreamSpan();

 private:
  Trace* trace_;
  TraceRow row_;
  const char* what_;
  int unit_;
  void* stream_;
  Work work_;
  std::int64_t begin_;
};

}  // namespace monomorph
