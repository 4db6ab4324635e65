#pragma once
#include <cstdint>
#include <monomorph/plan/traffic.hpp>
#include <monomorph/runtime/machine/trace_span.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <span>

namespace monomorph {

/// How a unit's gradient is reduced.
struct Reduction {
  bool accumulate = false;  ///< adds to what this rank's shard holds instead of overwriting it
  bool last = true;         ///< of the step: gradients are summed over a shard's replicas, too
};

/// A unit to be gathered: all ranks' shards come together in `unsharded`, in their order.
struct UnitGather {
  int unit;
  View shard, unsharded;
};

/// Collectives over the data-parallel ranks. Each group of `shards` ranks holds one copy of the parameters together, of
/// which rank r holds shard r % shards. Every collective belongs to a unit, so that a message about one that is stuck
/// can name it. It begins after the compute that was called before it, and overlaps the compute that is called after
/// it, until `wait`. All ranks issue the same collectives in the same order. The public functions are not virtual, so
/// that an object file shows which of them its recipe can call.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int shards() const = 0;
  int shard_index() const { return rank() % shards(); }
  /// Whether its collectives begin in their turn on a device's queue wherever they are called, as they are the device's
  /// own. Others begin at once, and a queue calls them in their turn.
  virtual bool takes_turns() const { return false; }
  /// @throws RankFailure a collective that has begun on the device will never end, or has failed
  virtual void check() {}
  virtual plan::Traffic traffic() const = 0;  ///< so far; every unit must have been waited for

  /// Gathers some units one after the other, each of which may be waited for by itself. A device orders the first one
  /// behind compute, and so the others.
  void all_gather(std::span<const UnitGather> units);
  void all_gather(int unit, View shard, View unsharded);  ///< the same of a single unit
  /// `shard` = this rank's shard of the sum of all ranks' `unsharded`; with a single shard, the whole sum
  void reduce_scatter(int unit, View unsharded, View shard, Reduction reduction);
  /// sent[r] goes to rank r of those that hold one copy together, and received[r] comes from there, where present: the
  /// same number of bytes as that rank sends here. What a rank sends to itself is copied, unless it lies there already.
  /// The spans, too, stay as they are until the unit was waited for. Calls take effect in their order among each other,
  /// even those of different units.
  void all_to_all(int unit, std::span<const View> sent, std::span<const View> received);
  void release(int unit);  ///< compute no longer needs the gathered parameters; a later gather may overwrite them
  void wait(int unit);     ///< compute that is called afterwards sees the results of the unit's collectives
  /// Adds up the words of all ranks and gives the sums to all. Returns when it is done: meant for a few words, once a
  /// step.
  void all_reduce_sum(std::span<std::int64_t> words);
  /// The same of words in the memory of a device, each in the place of a double. The host waits where it takes no turn
  /// on the device's queue.
  void all_reduce_sum(View words);
  /// Gives all ranks the greatest of each word in a device's memory. Each is as wide as a double, and none is negative.
  void all_reduce_max(View words);

  /// `all` has a part for each rank, in their order and of equal size, of which this rank's own is there: the others
  /// are filled in, whatever ranks share parameters. Returns when it is done: meant for what little all ranks must see
  /// of each other's micro-batches.
  void gather_batch(View all);

  /// Records what begins from now on in a trace; null: no longer. The trace must outlive the collectives that it
  /// records.
  void record(Trace* trace) { trace_ = trace; }
  bool is_traced() const { return trace_ != nullptr; }

  // What is asked for between these two is recorded by the device, and runs whenever the device runs that recording.
  virtual void begin_recording() {}
  /// @return its number, by which it is known from then on
  virtual int end_recording() { return 0; }
  /// The recording is about to run.   @throws as check
  virtual void runs_recording(int) {}

  /// Records compute for a unit in the trace, until the end of the scope.
  TraceSpan trace_compute(const char* what, int unit) const { return {trace_, TraceRow::compute, what, unit}; }

 protected:
  Trace* trace() const { return trace_; }

 private:
  virtual void start_all_gather(std::span<const UnitGather> units) = 0;  ///< one or more
  virtual void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) = 0;
  virtual void start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) = 0;
  virtual void note_release(int unit) = 0;
  virtual void finish(int unit) = 0;
  virtual void all_reduce_words(std::span<std::int64_t> words) = 0;
  virtual void start_all_reduce(View words) {
    all_reduce_words({words.as<std::int64_t>(), static_cast<std::size_t>(words.elements())});
  }
  virtual void start_all_reduce_max(View words) = 0;
  virtual void gather_parts(View all) = 0;  ///< among two ranks or more

  Trace* trace_ = nullptr;
};

}  // namespace monomorph
