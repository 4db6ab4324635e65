#pragma once
#include "../../recipes/tiny_gpt2.hpp"

namespace recipes {

/// Keeps on the host what may wait there: activations, and the optimiser's masters and state.
struct tiny_gpt2_offloaded : tiny_gpt2 {
  static constexpr monomorph::DecoderSpec model = [] {
    auto model = tiny_gpt2::model;
    model.n_layers = 4;
    return model;
  }();
  static constexpr monomorph::Expect expect{.params = 60'128};
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::Offload<>;
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
};

}  // namespace recipes
