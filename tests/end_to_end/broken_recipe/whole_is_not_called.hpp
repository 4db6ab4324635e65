// expect-error: \[OPTIM-02\] an optimizer must have `template <class Queue> static void update\(Queue
#pragma once
#include <monomorph/run.hpp>

namespace own {

/// Of two optimisers that can be called.
struct Pair : monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW> {
#if NEGATIVE
  static void update(int);
#endif
};

}  // namespace own

namespace recipes {

struct whole_is_not_called {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = own::Pair;
};

}  // namespace recipes
