#pragma once
#include <monomorph/runtime/kernels/optimizer.hpp>

namespace monomorph::cpu {

/// The numbers of an update, once they are decided.
struct UpdateScalars {
  double gradient_scale = 1;
  double clip_value = std::numeric_limits<double>::infinity();
  std::uint64_t update = 0;
};

}  // namespace monomorph::cpu
