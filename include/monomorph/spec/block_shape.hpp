#pragma once
#include <cstdint>
#include <monomorph/core/derived.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph {

/// The sizes of a block that may differ between layers; those of the model unless given.
struct BlockShape {
  Derived<std::int64_t> n_heads{}, n_kv_heads{}, head_dim{}, d_ff{};
};

/// The model with these sizes. Heads that are counted anew keep their width, and each has its own
/// keys and values, unless these are given, too.
constexpr DecoderSpec reshaped(DecoderSpec model, const BlockShape& shape) {
  const std::int64_t head_dim = shape.head_dim.value_or(model.head_width());
  if (shape.n_heads.given) {
    model.n_heads.value = shape.n_heads.value;
    model.n_kv_heads = {};
  }
  if (shape.n_heads.given || shape.head_dim.given) model.head_dim = head_dim;
  if (shape.n_kv_heads.given) model.n_kv_heads = shape.n_kv_heads;
  if (shape.d_ff.given) {
    model.d_ff = shape.d_ff;
    model.d_ff_multiple = DecoderSpec{}.d_ff_multiple;  // nothing is rounded to it
  }
  return model;
}

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::BlockShape, n_heads, n_kv_heads, head_dim, d_ff);
