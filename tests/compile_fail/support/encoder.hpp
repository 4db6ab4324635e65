#pragma once
#include "control.hpp"

/// An encoder that breaks no rule.
struct EncoderControl : Control {
  static constexpr monomorph::EncoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32, .vocab_multiple = 16};
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
};
