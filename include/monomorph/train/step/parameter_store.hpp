#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/runtime/memory/transfers.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/packed_matrices.hpp>
#include <monomorph/train/step/unit_views.hpp>
#include <utility>
#include <vector>

namespace monomorph::train {

/// The parameters that compute reads. The sharding policy says what ranks split, and where a rank's part of a unit
/// lies; here is when it is collected: a unit that is about to be used is there, and the next one is on its way while
/// it is used. What is packed comes to be there as its bytes, of which numbers are made when the unit is used.
template <class R> class ParameterStore {
  using Queue = typename device_of<R>::Queue;
  using Collectives = QueuedCommunicator<Queue>;
  using Transfers = TransfersOf<Queue>;
  using Shards = plan::Shards<R>;
  static constexpr int n_units = plan::n_stored_units<R>, last_layer = plan::last_layer<R>;
  static constexpr bool gathers = splits_optimizer<typename R::sharding>, on_host = Shards::on_host,
                        splits = R::sharding::splits_parameters, quantizes = plan::quantizes<R>;
  using Packed = std::conditional_t<quantizes, PackedMatrices<R>, NoPackedMatrices>;
  static constexpr bool collects = gathers || on_host;  ///< units that are used must be collected before
  static constexpr bool releases = splits || on_host;

 public:
  /// What the collectives and copies of what comes next depend on.
  struct Progress {
    std::array<bool, n_units> there, fetched;
    int unpacked;
    bool operator==(const Progress&) const = default;
  };

  /// @param transfers null if nothing lies on the host
  ParameterStore(const Collectives& collectives, const Shards& shards, Arena& arena, Arena& host, Transfers* transfers)
      : comm_(collectives),
        transfers_(transfers),
        arrives_apart_(shards.arrivals.elements > 0),
        views_(shards.params, shards.part, collectives.shard_index(), arena, on_host ? host : arena,
               R::precision::compute_dtype),
        packed_(collectives.queue(), arena) {
    if constexpr (on_host) {
      const View arrivals = arena.take(shards.arrivals.elements, R::precision::compute_dtype);
      for (int u = 0; u < n_units; ++u)
        arrived_[u] = arrives_apart_ ? as_copied(u, arrivals[shards.arrived[u]]) : whole(u);
    }
  }

  View whole(int u) const { return as_copied(u, views_.whole(u)); }
  UnitBuffer of_unit(int u) const {
    if constexpr (quantizes)
      return {whole(u), whole(plan::n_units<R> + u), packed_.numbers(), plan::slice_places<R>[u]};
    else if constexpr (plan::freezes_tensors<R>)
      return {whole(u), whole(plan::n_units<R> + u), plan::slice_places<R>[u]};
    else
      return whole(u);
  }
  View shard(int u) const { return as_copied(u, views_.shard(u)); }
  std::vector<QuantizedMatrix> quantized() const requires(plan::quantizes<R>) {
    return packed_.matrices(comm_.shard_index(), [this](int u) { return shard(plan::first_packed<R> + u); });
  }

  void before_forward(int layer) {
    if constexpr (collects) {
      collect(layer, layer < last_layer ? layer + 1 : layer);
      each_of(layer, [this](int u) { await(u); });
      if (layer + 1 < last_layer) each_of(layer + 2, [this](int u) { fetch_early(u); });
    }
    unpack(layer);
  }
  void after_forward(int layer) {
    if (plan::last_uses_unit<R>(layer) && !begins_backward(layer)) each_of(layer, [this](int u) { release(u); });
  }
  void before_backward(int layer) {
    if constexpr (releases)
      if (backward_needs(layer - 1)) collect(layer - 1, layer - 1);
    if constexpr (collects) each_of(layer, [this](int u) { await(u); });
    if constexpr (releases)
      if (backward_needs(layer - 2)) each_of(layer - 2, [this](int u) { fetch_early(u); });
    unpack(layer);
  }
  void after_backward(int layer) {
    if (plan::first_uses_unit<R>(layer)) each_of(layer, [this](int u) { release(u); });
  }
  /// An evaluation has no backward, which would release these.
  void after_evaluation() {
    for (const int layer : {last_layer - 1, last_layer})
      if (begins_backward(layer)) each_of(layer, [this](int u) { release(u); });
  }
  /// What the next step begins with is collected while other units are updated.
  void updated(int u) {
    if constexpr (collects) {
      if (plan::trains<R>(u)) there_[u] = false;
      if (whole(u).present() && (!releases || plan::unit_of_stored<R>(u) <= 1)) {
        UnitGathers begun;
        collect_with(begun, u);
        comm_.all_gather(begun);
      }
    }
  }
  /// After a load: what was collected is not true any more.   The caller has waited for every unit, and for copies.
  void changed() {
    there_ = {}, fetched_ = {};
    packed_.forget();
  }
  Progress progress() const { return {there_, set_out(fetched_), packed_.unpacked()}; }

 private:
  /// What is packed is copied as words of fp32, of which a copy keeps all bits: one of 16 bits makes a NaN a quiet one.
  static View as_copied(int u, View view) {
    if (!plan::is_packed<R>(u) || !view.present()) return view;
    return {view.data, DType::fp32, {1, view.bytes() / size_of(DType::fp32)}};
  }
  /// Calls f with the stored units that a layer's unit is made of.
  void each_of(int layer, auto&& f) const {
    const int unit = plan::unit_of_layer<R>(layer);
    f(unit);
    if constexpr (plan::freezes_tensors<R>)
      if (const int frozen = plan::n_units<R> + unit; whole(frozen).present()) f(frozen);
    if constexpr (quantizes)
      if (const int packed = plan::first_packed<R> + unit; whole(packed).present()) f(packed);
  }
  /// Whose bytes are there.
  void unpack(int layer) {
    if constexpr (quantizes) {
      const int unit = plan::unit_of_layer<R>(layer);
      if (const View packed = whole(plan::first_packed<R> + unit); packed.present()) packed_.unpack(unit, packed);
    }
  }
  /// What backward begins with stays: the last layer, and the one before, which it would not have time to collect.
  static constexpr bool begins_backward(int layer) {
    return layer >= last_layer - 1 && plan::backward_reaches<R>(layer);
  }
  static constexpr bool backward_needs(int layer) {
    return layer >= 0 && plan::backward_reaches<R>(layer) && plan::backward_reads<R>(layer);
  }
  static constexpr bool comes_from_host(int u) { return on_host && !Shards::resident(u); }

  /// The units of these layers, with one wait for compute.
  void collect(int first_layer, int last) {
    UnitGathers begun;
    for (int layer = first_layer; layer <= last; ++layer) each_of(layer, [&](int u) { collect_with(begun, u); });
    comm_.all_gather(begun);
  }
  /// Unless the unit is there or in flight already. What is to be gathered joins the others.
  void collect_with(UnitGathers& others, int u) {
    if (std::exchange(there_[u], true)) return;
    if (comes_from_host(u)) fetch(u);
    if constexpr (gathers) {
      if (comes_from_host(u) && arrives_apart_) arrive(u);
      others.add({u, comes_from_host(u) ? arrived_[u] : shard(u), whole(u)});
    }
  }
  /// What compute is given from now on finds the unit there.
  void await(int u) {
    if (comes_from_host(u) && !arrives_apart_) arrive(u);
    if constexpr (gathers) comm_.wait(u);
  }
  void release(int u) {
    if constexpr (releases) there_[u] = false;
    if constexpr (splits) comm_.release(u);
  }

  /// Unless the rank's part is on its way already. Its place is free: the unit that had it was released, or gathered.
  void fetch(int u) {
    if constexpr (on_host)
      if (fetched_[u] == 0) fetched_[u] = transfers_->start(shard(u), arrived_[u]);
  }
  /// Parts that ranks gather must be on the device when the gathering begins, and so set out a unit earlier.
  void fetch_early(int u) {
    if (comes_from_host(u) && arrives_apart_ && !there_[u]) fetch(u);
  }
  void arrive(int u) {
    if constexpr (on_host)
      if (const std::uint64_t number = std::exchange(fetched_[u], 0); number > 0) transfers_->wait(number);
  }

  Collectives comm_;
  Transfers* transfers_;
  bool arrives_apart_;  ///< and not in the place of the whole unit, which is the rank's own
  UnitViews<n_units> views_;
  [[no_unique_address]] Packed packed_;
  std::array<View, n_units> arrived_{};           ///< where a part from the host comes to
  std::array<std::uint64_t, n_units> fetched_{};  ///< the copy that brings it; 0: none has set out
  std::array<bool, n_units> there_{};
};

}  // namespace monomorph::train
