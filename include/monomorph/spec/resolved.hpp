#pragma once
#include <monomorph/spec/encoder_spec.hpp>

namespace monomorph {

/// The same model with every size given that it leaves to be derived: of two that say the same, one aloud, both are
/// equal.
template <class Spec> constexpr Spec resolved(Spec model) {
  const auto give = [](Derived<std::int64_t>& field, std::int64_t value) {
    field.value = value;
    field.given = true;
  };
  const std::int64_t kv_heads = model.kv_heads(), head_width = model.head_width(), ff_width = model.ff_width();
  give(model.n_kv_heads, kv_heads);
  give(model.head_dim, head_width);
  give(model.d_ff, ff_width);
  model.d_ff_multiple = Spec{.vocab_size = 1, .n_layers = 1, .n_heads = 1, .d_model = 1, .context_length = 1}
                            .d_ff_multiple;  // read by nobody now
  return model;
}

}  // namespace monomorph
