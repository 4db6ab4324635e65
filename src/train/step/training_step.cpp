#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

std::vector<StateTensor> downloaded(std::vector<StateTensor> tensors, const TrainingStep& step,
                                    std::vector<HostBuffer>& buffers) {
  buffers.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].view = step.download(tensors[i].view, buffers[i]);
  return tensors;
}

}  // namespace monomorph::train
