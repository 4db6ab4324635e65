#pragma once
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/spec/tensor_info.hpp>

/// The initialisers that the InitializationSpec of a model, of whatever kind, gives to each kind of parameter; sources
/// are in that header.
namespace monomorph::initializers {

/// Square root by Newton's method: std::sqrt is not constexpr in C++20.
constexpr double square_root(double x) {
  if (!(x > 0)) return 0;
  double root = x > 1 ? x : 1;
  for (int i = 0; i < 200; ++i) {
    const double next = 0.5 * (root + x / root);
    if (next == root) break;
    root = next;
  }
  return root;
}

constexpr double matrix_std(const auto& model) {
  return model.initialization.std.value_or(square_root(2.0 / (5.0 * static_cast<double>(model.d_model.value))));
}

inline constexpr Initializer one{.mean = 1};
inline constexpr Initializer zero{};
/// With which a norm multiplies by 1.
constexpr Initializer norm_weight(const NormSpec& norm) {
  return norm.kind == NormKind::zero_centered_rms_norm ? zero : one;
}
inline constexpr double llama3_cutoff = 3;  // in stds, of the head and the matrices: torchtitan's trunc_normal_ bounds

constexpr Initializer matrix(const auto& model) {
  const double std = matrix_std(model);
  if (model.initialization.scheme == InitializationScheme::llama3) return {.std = std, .cutoff = llama3_cutoff};
  return {.std = std};
}
/// For matrices that write into the residual stream in layer `block`.
constexpr Initializer residual_matrix(const auto& model, int block) {
  const double std = matrix_std(model);
  switch (model.initialization.scheme) {
    case InitializationScheme::plain:
      return {.std = std};
    case InitializationScheme::depth_scaled:
    case InitializationScheme::scaled_embedding:
      return {.std = std / square_root(2.0 * static_cast<double>(model.n_layers.value))};
    case InitializationScheme::llama3:
      return {.std = std / square_root(2.0 * (block + 1)), .cutoff = llama3_cutoff};
  }
  return {};
}
constexpr Initializer head(const auto& model) {
  if (model.initialization.scheme == InitializationScheme::llama3)
    return {.std = 1 / square_root(static_cast<double>(model.d_model.value)), .cutoff = llama3_cutoff};
  return {.std = matrix_std(model)};
}
constexpr Initializer embedding(const auto& model) {
  switch (model.initialization.scheme) {
    case InitializationScheme::scaled_embedding:
      return {.std = square_root(0.4)};
    case InitializationScheme::llama3:
      return model.tied_head ? head(model) : Initializer{.std = 1};
    default:
      return {.std = matrix_std(model)};
  }
}

}  // namespace monomorph::initializers
