#pragma once
#include <concepts>
#include <monomorph/spec/tensor_info.hpp>
#include <string_view>

namespace monomorph {

/// How the local flat shard of a unit is updated.
template <class P> concept OptimizerPolicy = requires(ParameterClass parameter_class) {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::moments } -> std::convertible_to<int>;            // buffers of state per parameter
  { P::decays(parameter_class) } -> std::same_as<bool>;  // weight decay applies
};

}  // namespace monomorph
