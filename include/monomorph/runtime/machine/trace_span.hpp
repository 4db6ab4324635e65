#pragma once
#include <cstdint>

namespace monomorph {

class Trace;  // runtime/machine/trace.hpp

/// What an event of a trace is.
enum class TraceRow { compute, waiting, all_gather, reduce_scatter, all_reduce };
/// In the place of a unit, for what belongs to no single one.
inline constexpr int no_unit = -1;

/// Adds one event, from here to the end of the scope. Without a trace it does nothing.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, TraceRow row, const char* what, int unit)
      : trace_(trace), row_(row), what_(what), unit_(unit), begin_(trace != nullptr ? now() : 0) {}
  TraceSpan(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (trace_ != nullptr) add();
  }

 private:
  static std::int64_t now();  ///< ticks of Trace::Clock, whose header takes long to read and is read with every recipe
  void add() const;

  Trace* trace_;
  TraceRow row_;
  const char* what_;
  int unit_;
  std::int64_t begin_;
};

}  // namespace monomorph
