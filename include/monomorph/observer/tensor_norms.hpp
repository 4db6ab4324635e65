#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/policy/observer_policy.hpp>

namespace monomorph::observer {

struct TensorNormsHparams {
  Field<std::int64_t> every{100, 1, 1'000'000'000, "steps between those whose norms are written"};
};

/// Writes the 2-norms of what each rank holds of each parameter, and of the gradients of the mean loss.
struct TensorNorms {
  using Hparams = TensorNormsHparams;

  bool wants(std::int64_t step) const { return step % hparams.every == 0; }
  void observe(const auto& step, auto& records) const {
    for (const auto& tensor : step.parameters) records.add("parameter", tensor, tensor.norm());
    for (const auto& tensor : step.gradients) records.add("gradient", tensor, tensor.norm() * step.gradient_scale);
  }

  Hparams hparams{};
};

}  // namespace monomorph::observer

extern template void monomorph::append_fields(monomorph::observer::TensorNormsHparams&, FieldList&);
