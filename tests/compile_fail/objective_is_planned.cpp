// expect-error: \[OBJ-06\] an objective over embeddings must have `static constexpr std::int64_t
#include "support/encoder.hpp"
struct Objective {
  using Hparams = monomorph::objective::ContrastivePairs::Hparams;
  static void loss(auto queue, const auto& embeddings, const Hparams&);
  static constexpr int texts_per_sample = 2;
#if NEGATIVE
  static constexpr int workspace_elements(std::int64_t) { return 1; }
#else
  static constexpr std::int64_t workspace_elements(std::int64_t) { return 1; }
#endif
  static constexpr double flops_per_sample(std::int64_t, int, std::int64_t) { return 0; }
};
struct Case : EncoderControl {
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
