#pragma once
#include "../../recipes/tiny_gpt2.hpp"

#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/host_state.hpp>

namespace recipes {

/// Has in its checkpoints what differs most between devices and ranks: maxima of fp8, Muon's state beside AdamW's and a
/// moving average, on the host of a GPU, in as many parts as there are ranks.
struct crossing : tiny_gpt2 {
  static constexpr monomorph::DecoderSpec model = [] {
    auto model = tiny_gpt2::model;
    model.n_layers = 3;
    model.n_heads = 2;
    model.context_length = 16;  // as products in fp8 allow
    return model;
  }();
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp8Mixed;
  using optimizer = monomorph::optim::HostState<
      monomorph::optim::Averaged<monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>>>;
  static constexpr monomorph::Expect expect{.params = 46'912};
};

}  // namespace recipes
