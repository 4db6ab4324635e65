#pragma once
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph {

/// Transformer that predicts tokens which its objective hides, with the head that BERT has for them (Devlin et al.
/// 2019, as published): a dense layer and a norm of its own between the final norm and a tied table, and a bias of each
/// logit.
struct MaskedLanguageSpec {
  DecoderSpec trunk{};  ///< with a tied head

  friend constexpr bool operator==(const MaskedLanguageSpec&, const MaskedLanguageSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::MaskedLanguageSpec, trunk);
