#pragma once
#include <monomorph/model/autograd_tape.hpp>
#include <monomorph/model/layers.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/plan/teacher.hpp>
#include <monomorph/train/step/parameter_store.hpp>
#include <monomorph/train/step/rotary_tables.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// The model that the student of recipe R learns from. Its parameters are in the dtype that computes; as with the
/// student's, a rank holds a shard of them, and units are gathered for a pass. Its memory is in arenas of its own, so
/// that a program that never asks the teacher, such as one that generates text, does not need that memory.
template <Recipe R> class Teacher {
  using T = plan::TeacherOf<R>;
  using Queue = typename device_of<R>::Queue;
  using Head = LastLayer<T>;
  static constexpr int last_layer = plan::last_layer<T>;
  static constexpr DType compute = T::precision::compute_dtype, statistic = statistics_dtype(compute);

 public:
  using Progress = typename ParameterStore<T>::Progress;

  /// @param collectives number the teacher's units behind the student's
  /// @param transfers null if nothing lies on the host
  Teacher(Queue queue, const QueuedCommunicator<Queue>& collectives, TransfersOf<Queue>* transfers,
          std::int64_t micro_batch)
      : queue_(queue),
        micro_batch_(micro_batch),
        shards_(collectives.size()),
        plan_(micro_batch),
        planned_(plan::teacher_bytes<R>(shards_.sharding, micro_batch)),
        arena_(planned_.device, allocator(queue)),
        host_arena_(planned_.host, host_allocator(queue)),
        parameters_(collectives, shards_, arena_, host_arena_, transfers),
        activations_(arena_.take(plan_.buffer.elements, compute)),
        statistics_(arena_.take(plan_.statistics.elements, statistic)),
        tables_(queue, arena_) {
    for (int u = 0; u < plan::n_units<T>; ++u) {
      units_.emplace_back().master = parameters_.shard(u);
      describe(plan::unit_layout<T>(u), u, plan::is_block<T>(u) ? plan::block_of_layer<T>(u) : -1, nullptr,
               collectives.shard_index() * shards_.part[u], units_.back());
    }
  }

  std::vector<StateTensor> parameters() { return state_tensors(units_, &UnitState::master); }
  /// Units that are gathered must be gathered again. The caller has waited for every unit.
  void changed() { parameters_.changed(); }
  Progress progress() const { return parameters_.progress(); }
  const Arena& arena() const { return arena_; }
  const Arena& host_arena() const { return host_arena_; }

  /// From the tokens to what the head multiplies. That, and the head's parameters, stay until `release`.
  void forward(const MicroBatch& batch) {
    for (int i = 0; i < last_layer; ++i) {
      parameters_.before_forward(i);
      with_layer<T>(i, [&](auto layer) {
        if constexpr (unit_kind<decltype(layer)> != UnitKind::head)
          layer.forward(tensors(i, batch), plan_.saved(layer));
      });
      parameters_.after_forward(i);
    }
    parameters_.before_forward(last_layer);
    static constexpr typename Head::Params p;
    const LayerTensors<T> t = tensors(last_layer, batch);
    const auto last = plan_.last();
    model::normalize<T>(t, p.final_norm, last.norm, t.x_MD, t.activations[last.normed_BD]);
  }
  /// What the last forward made.
  TeacherViews views() const {
    static constexpr typename Head::Params p;
    return {activations_[plan_.last().normed_BD],
            parameters_.of_unit(plan::unit_of_layer<T>(last_layer))[Head::weight_VD(p)]};
  }
  void release() { parameters_.after_evaluation(); }

 private:
  LayerTensors<T> tensors(int layer, const MicroBatch& batch) {
    LayerTensors<T> t{};
    t.queue = queue_;
    t.block = plan::block_of_layer<T>(layer);
    t.params = parameters_.of_unit(plan::unit_of_layer<T>(layer));
    t.x_MD = activations_[plan_.y(layer - 1)];
    if (layer < last_layer) t.y_MD = activations_[plan_.y(layer)];
    t.activations = activations_;
    t.statistics = statistics_;
    t.temporary_offset = plan_.temporary.offset;
    t.rotary_cos_TH = tables_.of_layer(layer).cos_TH;
    t.rotary_sin_TH = tables_.of_layer(layer).sin_TH;
    t.batch = micro_batch_;
    t.tokens = trunk_of<T>.context_length;
    t.tape = &tape_;
    t.inputs_M = batch.inputs;
    if constexpr (attention_of<T>::within_documents) t.document_starts = batch.document_starts;
    return t;
  }

  Queue queue_;
  std::int64_t micro_batch_;
  plan::Shards<T> shards_;
  plan::ForwardActivations<T> plan_;
  plan::TeacherBytes planned_;
  Arena arena_, host_arena_;
  ParameterStore<T> parameters_;
  View activations_, statistics_;
  RotaryTables<T> tables_;
  AutogradTape tape_;
  std::vector<UnitState> units_;
};

/// In the place of the teacher where a recipe's objective has none.
struct NoTeacher {
  struct Progress {
    bool operator==(const Progress&) const = default;
  };
  static void take(const auto&...) {}
  static void forward(const auto&...) {}
  static void release() {}
  static Nothing views() { return {}; }
  static std::vector<StateTensor> parameters() { return {}; }
  static Progress progress() { return {}; }
  static void forget() {}
};

/// The place of a teacher, which is empty until `take`: what is asked of it until then does nothing.
template <Recipe R> class TeacherPlace {
 public:
  using Progress = typename Teacher<R>::Progress;
  void take(auto queue, const auto& collectives, auto* transfers, std::int64_t micro_batch) {
    if (!teacher_) teacher_ = Owned<Teacher<R>>(new Teacher<R>(queue, collectives, transfers, micro_batch));
  }
  /// For tests: null before `take`.
  Teacher<R>* get() const { return teacher_.get(); }
  /// @param trace makes a span of the step's trace that lasts as long as the forward
  void forward(const MicroBatch& batch, const auto& trace) {
    if (!teacher_) return;
    const auto span = trace();
    teacher_->forward(batch);
  }
  void release() {
    if (teacher_) teacher_->release();
  }
  /// What the last forward made; not present before `take`.
  TeacherViews views() const { return teacher_ ? teacher_->views() : TeacherViews{}; }
  std::vector<StateTensor> parameters() const { return teacher_ ? teacher_->parameters() : std::vector<StateTensor>{}; }
  Progress progress() const { return teacher_ ? teacher_->progress() : Progress{}; }
  /// After a load, or when a recording failed: its units must be gathered again.
  void forget() {
    if (teacher_) teacher_->changed();
  }

 private:
  Owned<Teacher<R>> teacher_;
};

}  // namespace monomorph::train
