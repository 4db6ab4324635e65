#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph {

void Communicator::all_gather(std::span<const UnitGather> units) {
  if (!units.empty()) start_all_gather(units);
}
void Communicator::all_gather(int unit, View shard, View unsharded) {
  const UnitGather only{unit, shard, unsharded};
  start_all_gather({&only, 1});
}
void Communicator::reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) {
  start_reduce_scatter(unit, unsharded, shard, reduction);
}
void Communicator::all_to_all(int unit, std::span<const View> sent, std::span<const View> received) {
  start_all_to_all(unit, sent, received);
}
void Communicator::release(int unit) { note_release(unit); }
void Communicator::wait(int unit) {
  const TraceSpan span(trace_, TraceRow::waiting, "wait for", unit);
  finish(unit);
}
void Communicator::all_reduce_sum(std::span<std::int64_t> words) {
  if (size() == 1) return;
  const TraceSpan waiting(trace_, TraceRow::waiting, "wait for a sum", no_unit);  // compute waits meanwhile
  const TraceSpan span(trace_, TraceRow::all_reduce, "sum", no_unit);
  all_reduce_words(words);
}
void Communicator::all_reduce_sum(View words) {
  if (size() == 1) return;
  const TraceSpan waiting(trace_, TraceRow::waiting, "wait for a sum", no_unit);
  const TraceSpan span(trace_, TraceRow::all_reduce, "sum", no_unit);
  start_all_reduce(words);
}
void Communicator::all_reduce_max(View words) {
  if (size() == 1) return;
  const TraceSpan waiting(trace_, TraceRow::waiting, "wait for maxima", no_unit);
  const TraceSpan span(trace_, TraceRow::all_reduce, "maxima", no_unit);
  start_all_reduce_max(words);
}
void Communicator::gather_batch(View all) {
  if (size() == 1) return;
  const TraceSpan waiting(trace_, TraceRow::waiting, "wait for the batch", no_unit);
  const TraceSpan span(trace_, TraceRow::all_gather, "gather the batch", no_unit);
  gather_parts(all);
}

}  // namespace monomorph
