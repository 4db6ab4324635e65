#pragma once
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/gradient_tree.hpp>
#include <monomorph/train/step/unit_state.hpp>
#include <monomorph/train/step/unit_views.hpp>
#include <utility>

namespace monomorph::train {

/// The gradients that backward writes, and what ranks make of them: their sum, of which this rank keeps its shard. They
/// are added up over micro-batches in the whole, in the shard, or in a fixed tree. Frozen units have none. In an
/// update, when the places of whole gradients are free, units that the optimiser transforms lie there as wholes.
template <Recipe R> class GradientStore {
  using Queue = typename device_of<R>::Queue;
  using Collectives = QueuedCommunicator<Queue>;
  static constexpr int n_units = plan::n_stored_units<R>;
  static constexpr bool splits = R::sharding::splits_gradients;

 public:
  using Progress = std::array<int, 2>;  ///< as of ParameterStore

  /// @param tree_levels plan::tree_levels for gradients that are added up in a fixed tree; 0 for any order
  GradientStore(Queue queue, const Collectives& collectives, const plan::Shards<R>& shards, Arena& arena,
                int tree_levels)
      : queue_(queue),
        comm_(collectives),
        shards_(shards),
        in_tree_(tree_levels > 0),
        views_(shards.gradients, shards.part, collectives.shard_index(), arena, arena, R::precision::gradient_dtype) {
    for (int level = 0; level < tree_levels; ++level)
      tree_.push_back(arena.take(shards.tree_buffer.elements, R::precision::gradient_dtype));
    for (int u = 0; u < n_units; ++u)
      if (plan::trains<R>(u)) gaps_[u] = gaps(plan::stored_layout<R>(u), whole(u).elements());
  }

  View whole(int u) const { return views_.whole(u); }
  /// As Shards::whole_gradients_in.
  View whole_in(int slot, int u) const { return views_.among_wholes(shards_.whole_gradients_in(slot, u)); }
  UnitBuffer of_unit(int u) const {
    if constexpr (plan::freezes_tensors<R>)
      return {whole(u), View{}, plan::slice_places<R>[u]};
    else
      return whole(u);
  }
  View shard(int u) const { return views_.shard(u); }
  /// Whether backward adds to what earlier micro-batches have left in the whole gradients.
  bool accumulates(AccumulationStep step) const { return !in_tree_ && !step.first() && shards_.accumulates_whole(); }

  /// Backward may write the unit's gradients.
  void open(int u, AccumulationStep step) {
    if (!plan::trains<R>(u)) return;
    if (take_place(u) != u) zero_padding(u);
    if (in_tree_ && !step.first()) {
      comm_.wait(u);
      add_to_tree(u, {step.index - 1, step.count});
    }
  }
  /// They are complete, and are reduced while the units below compute.
  void close(int u, AccumulationStep step) {
    if (!plan::trains<R>(u)) return;
    last_ = step;
    if (in_tree_)
      comm_.reduce_scatter(u, whole(u), shard(u), {});
    else if (splits || step.last())
      comm_.reduce_scatter(u, whole(u), shard(u), {splits && !step.first(), step.last()});
  }
  /// Every unit's shard is the sum of all micro-batches. The caller has waited for every unit.
  void complete() {
    if (!in_tree_) return;
    for (int u = 0; u < n_units; ++u)
      if (plan::trains<R>(u)) add_to_tree(u, last_);
  }
  /// Collects what the optimiser has put in the shards' place, in that of the whole gradients.
  void gather(int u) {
    if (comm_.shards() == 1) return;
    take_place(u);
    comm_.all_gather(u, shard(u), whole(u));
  }
  Progress progress() const { return in_slot_; }
  /// Whatever lies in the units' places is not known any more.
  void forget() { in_slot_ = {-1, -1}; }

 private:
  /// When what was in the unit's slot before has been reduced.   @return which unit's it was
  int take_place(int u) {
    const int slot = shards_.gradient_slot(u);
    const int before = slot < 0 ? u : std::exchange(in_slot_[slot], u);
    if (before >= 0) comm_.wait(before);
    return before;
  }
  /// What lies between the unit's tensors, where another unit's gradients may have been.
  void zero_padding(int u) const {
    for (const Slice& gap : gaps_[u]) zero(queue_, whole(u)[gap]);
  }
  /// Takes the unit's gradients of one more micro-batch, which another one's will overwrite, into the tree; those of
  /// the last one join all that came before.
  void add_to_tree(int u, AccumulationStep step) const {
    train::add_to_tree(queue_, shard(u), step, [&](int level) { return tree_[level][shards_.tree[u]]; });
  }

  Queue queue_;
  Collectives comm_;
  const plan::Shards<R>& shards_;
  bool in_tree_;
  UnitViews<n_units> views_;
  std::vector<View> tree_;  ///< by level: the sum of 2^level micro-batches
  std::array<std::vector<Slice>, n_units> gaps_;
  Progress in_slot_{-1, -1};
  AccumulationStep last_;
};

}  // namespace monomorph::train
