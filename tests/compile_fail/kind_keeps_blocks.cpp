// expect-error: \[KIND-02\] the layers of a kind of model must be the blocks, one behind the other
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <class R> struct Unnamed : LayerParts<R> {
  static constexpr monomorph::UnitKind unit_kind = NEGATIVE ? monomorph::UnitKind::block : monomorph::UnitKind::head;
};
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, Unnamed> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
