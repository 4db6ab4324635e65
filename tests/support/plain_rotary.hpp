#pragma once
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph::testing {

/// R with rotated queries and keys that have no norm of their own, nor biases, so that products in fp8 get their
/// gradients rounded where they are rotated back.
template <class R> struct PlainRotary : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.qk_norm = false;
    return model;
  }();
};

}  // namespace monomorph::testing
