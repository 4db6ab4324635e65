// What only the queue's kernels and the run call: the members are there, and cannot be called.
// expect-error: \[OPTIM-02\] an optimizer must have `template <class Queue> static void update
// expect-error: \[OBJ-02\] an objective must have `template <class Queue> static auto loss
// expect-error: \[OBSERVE-01\] an observer must have `void observe
#pragma once
#include <monomorph/run.hpp>

namespace recipes {

struct calls_do_not_fit {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  struct optimizer : monomorph::optim::AdamW {
#if NEGATIVE
    static void update(auto queue, const auto& run, const Hparams& hparams);
#endif
  };
  struct objective : monomorph::objective::NextToken {
#if NEGATIVE
    static void loss(auto queue, const Hparams& hparams);
#endif
  };
  struct observer {
    static bool wants(std::int64_t) { return false; }
#if NEGATIVE
    static void observe(int step);
#else
    static void observe(const auto& /*step*/, auto& /*records*/) {}
#endif
  };
};

}  // namespace recipes
