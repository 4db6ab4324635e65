#pragma once
#include <monomorph/run.hpp>

/// A spec of a stranger's own kind of model.
namespace own {

struct Spec {
  monomorph::DecoderSpec decoder{};
  monomorph::Defaulted<bool> transform_bias = true;
  friend constexpr bool operator==(const Spec&, const Spec&) = default;
};

}  // namespace own

MONOMORPH_SPEC(own::Spec, decoder, transform_bias);
