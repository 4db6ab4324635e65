// expect-error: \[KIND-01\] a kind of model must have `static constexpr monomorph::ModelOutput output`
// expect-error: \[KIND-01\] a kind of model must have `static constexpr monomorph::DecoderSpec trunk\(const Spec&\)`
// expect-error: \[KIND-01\] a kind of model must have `template <class Blocks> using layers
// expect-error: \[KIND-01\] `embedding` of a kind of model, if it has one, must be `static constexpr
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
#if NEGATIVE
template <> struct monomorph::ModelKind<OwnSpec<0>> {
  static constexpr int output = 0;
  static constexpr Pooling embedding(const OwnSpec<0>&) { return Pooling::first; }
};
#else
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, LayerParts> {};
#endif
static_assert(monomorph::admit<OwnRecipe<0>>());
