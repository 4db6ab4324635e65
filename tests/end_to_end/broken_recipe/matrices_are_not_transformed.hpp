// expect-error: \[OPTIM-02\] an optimizer of whole matrices must have `prepare\(Queue
#pragma once
#include <monomorph/run.hpp>

namespace own {

struct Muon : monomorph::optim::Muon {
#if NEGATIVE
  static void transform(auto queue, const auto& matrix);
#endif
};

}  // namespace own

namespace recipes {

struct matrices_are_not_transformed {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::ByClass<own::Muon, monomorph::optim::AdamW>;
};

}  // namespace recipes
