#include <monomorph/train/step/gradient_tree.hpp>

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

namespace monomorph::train {

void add_to_tree(View gradient, Turn turn, const std::function<View(int)>& level) {
  const auto join = [&](int k) {
    const View terms[] = {level(k), gradient};
    kernels::pairwise_sum(terms, gradient, false);
  };
  const auto has = [&](int k) { return (turn.index >> k & 1) != 0; };
  int k = 0;
  for (; has(k); ++k) join(k);
  if (!turn.last()) return kernels::copy(gradient, level(k));
  for (; turn.index >> k != 0; ++k)
    if (has(k)) join(k);
}

}  // namespace monomorph::train
