#pragma once
#include <monomorph/attention/within_documents.hpp>
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph::testing {

/// R with rotated queries and keys that have no norm of their own, nor biases, so that products in fp8 get their
/// gradients rounded where they are rotated back. Rows have documents.
template <class R> struct PlainRotary : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.qk_norm = false;
    return model;
  }();
  using attention = attention::WithinDocuments;
};

}  // namespace monomorph::testing
