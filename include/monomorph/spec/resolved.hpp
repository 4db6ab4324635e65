#pragma once
#include <monomorph/spec/encoder_spec.hpp>

namespace monomorph {

namespace detail {
template <class Spec> constexpr Spec resolved(Spec model, const DecoderSpec& trunk) {
  const auto give = [](Derived<std::int64_t>& field, std::int64_t value) {
    field.value = value;
    field.given = true;
  };
  give(model.n_kv_heads, trunk.kv_heads());
  give(model.head_dim, trunk.head_width());
  give(model.d_ff, trunk.ff_width());
  model.d_ff_multiple = DecoderSpec{}.d_ff_multiple;  // read by nobody now
  return model;
}
}  // namespace detail

/// The same model with every size given that it leaves to be derived: of two that say the same, one aloud, both are
/// equal.
constexpr DecoderSpec resolved(const DecoderSpec& model) { return detail::resolved(model, model); }
constexpr EncoderSpec resolved(const EncoderSpec& model) { return detail::resolved(model, model.trunk()); }

}  // namespace monomorph
