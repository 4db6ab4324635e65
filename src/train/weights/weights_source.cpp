#include "train/weights/weights_source.hpp"

#include <monomorph/train/step/quantized_matrix.hpp>

namespace monomorph::train {

void WeightsSource::dequantize_nf4(const std::string& name, View to) {
  const Nf4Buffer packed(to.elements());
  read_nf4(name, packed.matrix());
  cpu::dequantize_nf4(cpu::Queue{}, packed.matrix(), to);
}

}  // namespace monomorph::train
