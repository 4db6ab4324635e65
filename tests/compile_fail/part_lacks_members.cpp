// What a block is composed of is judged before the block is.
// expect-error: \[LAYER-18\] a part of a block must have `using Queue
// expect-error: \[LAYER-18\] a part of a block must have `struct Params`
// expect-error: \[LAYER-18\] a part of a block must have `struct Saved`
// expect-error: \[LAYER-18\] a part of a block must have `struct Temporary`
// expect-error: \[LAYER-18\] a part of a block must have `static constexpr std::int64_t matmul_flops_per_token\(\)`
// expect-error: \[LAYER-18\] compute_flops_per_token of a part, if it has one
// expect-error: \[LAYER-18\] projection_flops_per_token of a part, if it has one
// expect-error: \[LAYER-18\] a part of a block must have `static constexpr monomorph::NormNames norm_before`
// expect-error: \[LAYER-18\] a part of a block in the order sandwich_norm must have
// expect-error: \[LAYER-18\] a part of a block that drops its residual must have
// expect-error: \[LAYER-18\] a part of a block must have `static void compute
// expect-error: \[LAYER-18\] decode of a part, if it has one
// expect-error: \[LAYER-18\] an attention part must have a type `Policy`
// expect-error: \[LAYER-18\] an attention part must have `static constexpr double attention_flops_per_token\(\)`
// expect-error: \[LAYER-18\] a part of a block must be a class that is not final
// expect-text: PartFits<Mlp<Case>, Case
#include "support/control.hpp"
#if NEGATIVE
template <class R> struct Mlp {
  using Queue = int;
  struct Params {};
  struct Saved {};
  static std::int64_t matmul_flops_per_token() { return 0; }
  static constexpr std::int64_t compute_flops_per_token() { return 0; }
  static constexpr int projection_flops_per_token = 0;
  static constexpr const char* norm_before = "norm";
  static constexpr int out_site = 3;
  static void compute(const monomorph::PartTensors<Mlp>&, monomorph::View in);
  static void backward(const monomorph::PartTensors<Mlp>&, monomorph::View in);
  static void decode(const monomorph::PartDecode<Mlp>&, monomorph::View in);
};
template <class R> struct Attention : monomorph::SelfAttention<R> {
  using Policy = int;
  static constexpr int attention_flops_per_token() { return 1; }
};
template <class R> struct Final final : monomorph::DenseMlp<R> {};
#else
template <class R> using Mlp = monomorph::DenseMlp<R>;
template <class R> using Attention = monomorph::SelfAttention<R>;
template <class R> using Final = monomorph::DenseMlp<R>;
#endif
using monomorph::BlockOrder, monomorph::Composed, monomorph::Run;
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.dropout.residual = 0.1; });
  using layers = monomorph::Stack<Run<Composed<BlockOrder::sandwich_norm, Mlp>::Block, 3>,
                                  Run<Composed<BlockOrder::parallel, monomorph::DenseMlp, Attention>::Block, 2>,
                                  Run<Composed<BlockOrder::post_norm, Final>::Block, 1>>;
};
static_assert(monomorph::admit<Case>());
