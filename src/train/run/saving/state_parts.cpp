#include "train/run/saving/state_parts.hpp"

#include "train/weights/file_dtype.hpp"

#include <monomorph/train/step/quantized_matrix.hpp>

#include <utility>

namespace monomorph::train {

std::vector<StateTensor> all_state(TrainingStep& step, bool of_optimizer) {
  std::vector<StateTensor> tensors = step.parameters();
  for (const QuantizedMatrix& matrix : step.quantized())
    for (StateTensor& part : held_parts(matrix)) tensors.push_back(std::move(part));
  if (of_optimizer)
    for (StateTensor& tensor : step.optimizer_state()) tensors.push_back(std::move(tensor));
  return tensors;
}

std::vector<std::int64_t> file_shape(Shape shape) {
  const Dims dims = dims_of(shape);
  return {dims.begin(), dims.end()};
}

runtime::PartToSave part_of(const StateTensor& tensor) {
  return {{.name = tensor.name, .dtype = file_dtype(tensor.view.dtype), .shape = file_shape(tensor.shape)},
          tensor.held()};
}

}  // namespace monomorph::train
