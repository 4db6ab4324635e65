// What a wrapper lacks is what the policy in it lacks, and the compiler says nothing of the wrapper.
// expect-error: \[SHARD-03\] a sharding policy must have `static constexpr int optimizer_shards\(int dp\)`
// expect-error: \[ACT-04\] a checkpointing policy must have `static constexpr Recompute recompute\(int block\)`
// expect-error: \[OPTIM-02\] an optimizer must have `static constexpr monomorph::StateBuffers state\(ParameterClass\)`
// expect-error: \[ATTN-12\] an attention policy must have `static constexpr bool within_documents`
#include "support/control.hpp"
struct Sharding {
  static constexpr bool splits_parameters = true, splits_gradients = true;
#if !NEGATIVE
  static constexpr int optimizer_shards(int dp) { return dp; }
#endif
};
struct Checkpointing {
#if !NEGATIVE
  static constexpr monomorph::Recompute recompute(int) { return monomorph::Recompute::nothing; }
#endif
};
struct Optimizer {
  using Hparams = monomorph::optim::AdamW::Hparams;
  static constexpr monomorph::UpdateScope scope(monomorph::ParameterClass) { return monomorph::UpdateScope::elements; }
  static void update(auto queue, const auto& run, const Hparams&, const auto& terms);
#if !NEGATIVE
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass) { return {"moment"}; }
#endif
};
struct Attention {
#if !NEGATIVE
  static constexpr bool within_documents = false;
#endif
  static constexpr monomorph::AttentionMask mask{};
};
struct Case : Control {
  using sharding = monomorph::sharding::HostParameters<monomorph::sharding::ReduceOncePerStep<Sharding>>;
  using checkpointing = monomorph::checkpointing::Offload<Checkpointing>;
  using optimizer = monomorph::optim::HostState<
      monomorph::optim::Bf16State<monomorph::optim::ByClass<Optimizer, monomorph::optim::AdamW>>>;
  using attention = monomorph::attention::PerDocument<Attention>;
};
static_assert(monomorph::admit<Case>());
