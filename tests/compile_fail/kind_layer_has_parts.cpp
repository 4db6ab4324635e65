// expect-error: \[KIND-04\] a layer of a kind of model must have Params, Saved, Temporary
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <class R> struct Lacking {
  static constexpr monomorph::UnitKind unit_kind = monomorph::UnitKind::head;
  using Params = typename LayerParts<R>::Params;
  using Saved = monomorph::Nothing;
#if !NEGATIVE
  using Temporary = monomorph::Nothing;
#endif
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void forward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  static void backward(const monomorph::LayerTensors<R>& t, const Saved& saved);
};
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, Lacking> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
