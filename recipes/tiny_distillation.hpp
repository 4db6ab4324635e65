#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// A model of little more than a quarter of tiny_llama's size that learns from it, for tests: parts of both on each
/// rank.
struct tiny_distillation : tiny_llama {
  static constexpr monomorph::DecoderSpec model = [] {
    monomorph::DecoderSpec model = tiny_llama::model;
    model.n_layers = 1;
    model.d_model = 32;
    return model;
  }();
  using sharding = monomorph::sharding::FullShard;
  using objective = monomorph::objective::Distillation<tiny_llama>;
  static constexpr monomorph::Expect expect{.params = 45'152};
};

}  // namespace recipes
