#pragma once
#include <monomorph/run.hpp>

namespace recipes {

template <int layers_> struct Common {  // a base that is a template; the name of its parameter is no member
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = layers_, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::Replicate;
  using gradient_policy = int;  // refused: gradient_policy
  using optimizer = monomorph::optim::AdamW;
};
#define OWN(name) using name = monomorph::objective::NextToken
struct odd : Common<2> {
  using precision = monomorph::precision::Fp32;
  using activation_checkpointing =
      monomorph::checkpointing::KeepAll;            // refused: activation_checkpointing, did you mean checkpointing
  static constexpr monomorph::MeshSpec mesh_{};     // refused: mesh_, did you mean mesh
  static constexpr int Budget_ = 3;                 // refused: Budget_, did you mean budget
  static constexpr int helper(int x) { return x; }  // refused: helper
  typedef int attension;                            // refused: attension, did you mean attention
  using optim = monomorph::optim::AdamW;            // refused: optim, did you mean optimizer
  using optimiser = monomorph::optim::AdamW;        // refused: optimiser, did you mean optimizer
  OWN(objectives);                                  // refused: objectives, did you mean objective
  OWN(objective);
  struct Nested {  // refused: Nested
    int model;
  };
  int data;  // refused: data
};

}  // namespace recipes
