// expect-error: \[KIND-03\] the first layer of a kind of model must be of the kind embedding
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <class R> struct Last : LastParts<R> {
  static constexpr monomorph::UnitKind unit_kind =
      NEGATIVE ? monomorph::UnitKind::embedding : monomorph::UnitKind::head;
};
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnHeadKind<0, LayerParts, Last> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
