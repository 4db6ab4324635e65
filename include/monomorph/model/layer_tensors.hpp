#pragma once
#include <monomorph/block/layer.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

namespace monomorph {

template <class Queue> class QueuedCommunicator;

/// What a teacher's last layer multiplies: the norm of its residual stream, and its table. Not present where there is
/// no teacher to ask.
struct TeacherViews {
  View in_MD, weight_VD;
};

/// What a layer may touch in one call. Blocks ask for no more than TensorsOf; the first layer reads the batch, and the
/// last one makes the loss of it.
template <class R> struct LayerTensors : TensorsOf<R> {
  const std::int32_t *inputs_M, *targets_M;
  const typename objective_of<R>::Hparams* objective;
  const QueuedCommunicator<typename device_of<R>::Queue>*
      data_parallel;           ///< with the ranks whose embeddings a loss compares
  const double* reference_BK;  ///< as of a MicroBatch
  [[no_unique_address]] std::conditional_t<has_teacher<objective_of<R>>, TeacherViews, Nothing> teacher;
};

}  // namespace monomorph
