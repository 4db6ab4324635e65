#pragma once
#include <concepts>
#include <string_view>

namespace monomorph {

/// What the loss is.
template <class P> concept ObjectivePolicy = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::predicts_next_token } -> std::convertible_to<bool>;
};

}  // namespace monomorph
