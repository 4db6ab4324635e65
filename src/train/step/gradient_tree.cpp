#include <monomorph/train/step/gradient_tree.hpp>

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

namespace monomorph::train {

void add_to_tree(View gradient, AccumulationStep accumulation_step, const std::function<View(int)>& level) {
  const auto join = [&](int k) {
    const View terms[] = {level(k), gradient};
    kernels::pairwise_sum(terms, gradient, false);
  };
  const auto has = [&](int k) { return (accumulation_step.index >> k & 1) != 0; };
  int k = 0;
  for (; has(k); ++k) join(k);
  if (!accumulation_step.last()) return kernels::copy(gradient, level(k));
  for (; accumulation_step.index >> k != 0; ++k)
    if (has(k)) join(k);
}

}  // namespace monomorph::train
