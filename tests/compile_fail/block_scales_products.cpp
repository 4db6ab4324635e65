// expect-error: \[PREC-10\] every block must have products that can be in fp8
// expect-error: \[PREC-10\] every block must have products that can be in fp8
// expect-text: BlockScalesProducts<.*Mixture<
// expect-text: BlockScalesProducts<.*Own<
#include "support/control.hpp"
/// Of a user's own, around the same parts.
template <class R> struct Own : monomorph::DecoderBlock<R> {
#if NEGATIVE
  static constexpr int n_maxima = 0;  // its body knows nothing of maxima
#endif
};
template <class R> using Experts = monomorph::Mixture<monomorph::MixtureSpec{.n_experts = 4, .top_k = 2}>::Block<R>;
struct Scaled : Control {
  static constexpr auto model = changed([](auto& model) { model.bias.mlp = false; });
  using precision = monomorph::precision::Fp8Mixed;
};
struct WithMixture : Scaled {
#if NEGATIVE
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 2>, monomorph::Run<Experts, 4>>;
#endif
};
struct WithOwn : Scaled {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<WithMixture>());
static_assert(monomorph::admit<WithOwn>());
