#pragma once
#include <cstdint>
#include <monomorph/plan/traffic.hpp>
#include <monomorph/runtime/machine/trace.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <span>

namespace monomorph {

/// How a unit's gradient is reduced.
struct Reduction {
  bool accumulate = false;  ///< added to what this rank's part holds, instead of taking its place
  bool last = true;         ///< of the step: the replicas of a shard are joined, too
};

/// Collectives over the data-parallel ranks, which lie in groups of `shards` that hold a whole copy together: rank
/// r holds part r % shards of it. Collectives are named by unit, so that a stuck one can say which. Each begins after
/// the compute before it and runs beside the compute after it, until `wait`. All ranks issue the same ones in the same
/// order. The public functions are not virtual, so that an object file shows which of them its recipe can call.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int shards() const = 0;
  int shard() const { return rank() % shards(); }
  virtual plan::Traffic traffic() const = 0;  ///< so far, of units that were all waited for

  void gather(int unit, View own, View whole);  ///< whole = the own of all shards, in order
  /// own = this rank's part of the sum of the ranks' wholes, as long as one shard is; with one shard, all of it
  void reduce(int unit, View whole, View own, Reduction reduction);
  void release(int unit);  ///< compute is done with the whole parameters; a later gather may overwrite them
  void wait(int unit);     ///< compute from here on sees what was started for the unit
  /// Adds up the words of all ranks, in all ranks. Returns when it is done: meant for a few words, once a step.
  void sum(std::span<std::int64_t> words);

  /// What is begun from here on is noted; null: no more. The trace outlives what is on its way.
  void record(Trace* trace) { trace_ = trace; }
  /// What is computed for a unit, until the end of the scope.
  TraceSpan computing(const char* what, int unit) const { return {trace_, Trace::Row::compute, what, unit}; }

 protected:
  Trace* trace() const { return trace_; }

 private:
  virtual void start_gather(int unit, View own, View whole) = 0;
  virtual void start_reduce(int unit, View whole, View own, Reduction reduction) = 0;
  virtual void note_release(int unit) = 0;
  virtual void finish(int unit) = 0;
  virtual void sum_words(std::span<std::int64_t> words) = 0;

  Trace* trace_ = nullptr;
};

}  // namespace monomorph
