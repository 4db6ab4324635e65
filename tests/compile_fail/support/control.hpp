#pragma once
#include <monomorph/run.hpp>

/// A recipe that breaks no rule: negative tests inherit it and break one thing.
struct Control {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32, .vocab_multiple = 16};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

/// The control's model, changed by a function.
template <class Change> constexpr monomorph::DecoderSpec changed(Change change) {
  monomorph::DecoderSpec model = Control::model;
  change(model);
  return model;
}

/// A block that is not the decoder block, to have runs of both.
template <class R> struct OtherBlock : monomorph::DecoderBlock<R> {};
