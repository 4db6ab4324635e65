#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph {

void Communicator::gather(int unit, View own, View whole) { start_gather(unit, own, whole); }
void Communicator::reduce(int unit, View whole, View own, Reduction reduction) {
  start_reduce(unit, whole, own, reduction);
}
void Communicator::release(int unit) { note_release(unit); }
void Communicator::wait(int unit) {
  const TraceSpan span(trace_, Trace::Row::waiting, "wait for", unit);
  finish(unit);
}
void Communicator::sum(std::span<std::int64_t> words) {
  if (size() == 1) return;
  const TraceSpan waiting(trace_, Trace::Row::waiting, "wait for a sum", Trace::no_unit);  // compute waits meanwhile
  const TraceSpan span(trace_, Trace::Row::sum, "sum", Trace::no_unit);
  sum_words(words);
}

}  // namespace monomorph
