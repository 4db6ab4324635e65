// What only the device's kernels call of a block and its parts: the members are there, and cannot be called.
// expect-error: \[LAYER-18\] a part of a block must have `static void compute
// expect-error: \[LAYER-18\] decode of a part, if it has one
// expect-error: \[LAYER-17\] a block or MLP part that has n_counters must have `static void update_state
#pragma once
#include <monomorph/run.hpp>

namespace own {

inline constexpr monomorph::MixtureSpec experts{.n_experts = 4, .top_k = 2};

/// A part that a block may be made of. Its functions take what this part, and not another one, has.
template <class R> struct Mlp : monomorph::DenseMlp<R> {
  using Whole = monomorph::DenseMlp<R>;
  static void compute(const monomorph::PartTensors<Mlp>& t, auto in, monomorph::Recompute what) {
    Whole::compute(whole(t), in, what);
  }
  static void project(const monomorph::PartTensors<Mlp>& t, auto residual, auto out) {
    Whole::project(whole(t), residual, out);
  }
#if NEGATIVE
  static void backward(const monomorph::PartTensors<Mlp>& t, auto in, auto dout);
  static void decode(const monomorph::PartDecode<Mlp>& t, int token);
#else
  static void backward(const monomorph::PartTensors<Mlp>& t, auto in, auto dout, auto din, bool accumulate) {
    Whole::backward(whole(t), in, dout, din, accumulate);
  }
  static void decode(const monomorph::PartDecode<Mlp>& t, auto in, auto residual, auto out) {
    Whole::decode(monomorph::PartDecode<Whole>{t.t, t.p, t.temporary, t.cache}, in, residual, out);
  }
#endif
 private:
  static auto whole(const auto& t) { return monomorph::PartTensors<Whole>{t.t, t.p, t.saved, t.temporary}; }
};
template <class R> struct Block : monomorph::Mixture<experts>::Block<R> {
#if NEGATIVE
  static void update_state(auto queue, const auto& run);
#endif
};

}  // namespace own

namespace recipes {

struct parts_are_not_called {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32, .bias = {.mlp = false}};
  using layers =
      monomorph::Stack<monomorph::Run<monomorph::Composed<monomorph::BlockOrder::pre_norm, own::Mlp>::Block, 3>,
                       monomorph::Run<own::Block, 3>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
