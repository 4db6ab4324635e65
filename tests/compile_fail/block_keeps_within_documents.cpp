// A block that was not written with documents in mind would let tokens see each other across them.
// expect-error: \[ATTN-11\] every block of layers must have `static constexpr bool within_documents = true;`
// expect-text: BlockKeepsWithinDocuments<Mixer<Case>, true>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Mixer : monomorph::AutogradBlock<Mixer<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
#if !NEGATIVE
  static constexpr bool within_documents = true;
#endif
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      take_tensor("mixer.weight", {1, R::model.d_model}, monomorph::ParameterClass::norm, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Mixer, 2>>;
  using attention = monomorph::attention::WithinDocuments;
};
struct CausalCase : Case {  // asks nothing of a block
  using attention = monomorph::attention::Causal;
};
static_assert(monomorph::admit<CausalCase>());
static_assert(monomorph::admit<Case>());
