// expect-error: \[KIND-08\] the objective of a MaskedLanguageSpec must be one of tokens
#include <monomorph/block/masked_language_head.hpp>

#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::MaskedLanguageSpec model{.trunk = Control::model};
  using objective = std::conditional_t<NEGATIVE, monomorph::objective::Preferences, monomorph::objective::NextToken>;
  using attention = monomorph::attention::WithinDocuments;
};
static_assert(monomorph::admit<Case>());
