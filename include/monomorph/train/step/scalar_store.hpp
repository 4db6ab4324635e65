#pragma once
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/plan/block_counts.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>
#include <new>
#include <span>

namespace monomorph::train {

/// The numbers of a step, and what its blocks count for the update of their state, in the device's memory.
template <Recipe R> class ScalarStore {
  using Queue = typename device_of<R>::Queue;
  static constexpr bool counts_loss = plan::any_auxiliary_loss<R>, counts = plan::n_counters<R> != 0,
                        takes_maxima = plan::n_maxima<R> != 0;
  static_assert(sizeof(StepScalars) <= plan::step_scalars_bytes);

 public:
  ScalarStore(Queue queue, int ranks, Arena& arena)
      : queue_(queue),
        memory_(arena.take(plan::scalar_bytes<R> / size_of(DType::fp64), DType::fp64)),
        words_(arena.take(align_up(plan::step_words<R>(ranks)), DType::fp64).columns(0, plan::step_words<R>(ranks))) {
    write({});
  }

  // On the device, for kernels.
  StepScalars* get() const { return memory_.as<StepScalars>(); }
  std::span<std::int64_t> counters() const { return {of_counters().template as<std::int64_t>(), plan::n_counters<R>}; }

  /// The words of which ranks find the greatest over all of them; not present where there are none.
  View maxima() const {
    return takes_maxima ? memory_.columns(first_word + plan::n_counters<R>, plan::n_maxima<R>) : View{};
  }

  /// In which several ranks add all of it up.
  View words() const { return words_; }

  // For the host.
  StepScalars read() const {
    HostBuffer buffer;
    return *copy_to_host(queue_, of_scalars(), buffer).template as<StepScalars>();
  }
  void write(const StepScalars& scalars) const {
    HostBuffer buffer;
    synchronize(queue_);
    const View place = place_on_host(queue_, of_scalars(), buffer);
    new (place.data) StepScalars(scalars);
    copy_from_host(queue_, place, of_scalars());
  }
  std::vector<std::int64_t> read_counters() const {
    HostBuffer buffer;
    if constexpr (!counts) return {};
    const auto* const first = copy_to_host(queue_, of_counters(), buffer).template as<std::int64_t>();
    return {first, first + plan::n_counters<R>};
  }

  /// Maxima are those of nothing then, too.
  void start_step() {
    begin_step(queue_, get(), {of_counters().template as<std::int64_t>(), plan::n_counters<R> + plan::n_maxima<R>});
  }
  void start_micro_batch() { begin_micro_batch(queue_, get()); }
  /// When its loss is known.
  void count_micro_batch() { end_micro_batch(queue_, get()); }
  /// The same tensors, for forward: in that of a training pass, and nowhere else, blocks count.
  LayerTensors<R> counting(LayerTensors<R> t) const {
    if constexpr (counts_loss) t.auxiliary_loss = t.training ? &get()->auxiliary : nullptr;
    if constexpr (counts) t.counters = t.training ? counters_of(plan::layer_of_block<R>(t.block)) : nullptr;
    return t;
  }
  /// The same tensors, for a pass of training: what its blocks round to fp8 has maxima.
  LayerTensors<R> with_maxima(LayerTensors<R> t) const {
    if constexpr (takes_maxima) t.maxima = t.training ? maxima_of(plan::layer_of_block<R>(t.block)) : nullptr;
    return t;
  }
  /// Updates a run of tensors that are a layer's own to update.
  void update_state(int layer, const ElementUpdate& run, const UpdateTerms& terms) const {
    if constexpr (counts)
      with_layer<R>(layer, [&](auto l) {
        if constexpr (plan::counters_of<decltype(l)> != 0) l.update_state(queue_, run, counters_of(layer), terms);
      });
    if constexpr (takes_maxima)
      with_layer<R>(layer, [&](auto l) {
        if constexpr (plan::maxima_of<decltype(l)> != 0) l.record_maxima(queue_, run, maxima_of(layer), terms);
      });
  }

 private:
  static constexpr std::int64_t first_word = plan::step_scalars_bytes / size_of(DType::fp64);
  View of_scalars() const { return memory_.columns(0, first_word); }
  View of_counters() const { return memory_.columns(first_word, plan::n_counters<R>); }
  std::int64_t* counters_of(int layer) const { return counters().data() + plan::first_counter<R>[layer]; }

  std::int64_t* maxima_of(int layer) const {
    return maxima().template as<std::int64_t>() + plan::first_maximum<R>[layer];
  }

  Queue queue_;
  View memory_, words_;
};

}  // namespace monomorph::train
