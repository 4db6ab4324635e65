// Of every field of every spec that has no default, all at once, each is told once.
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given vocab_size; write `\.vocab_size = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given n_layers; write `\.n_layers = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given n_heads; write `\.n_heads = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given d_model; write `\.d_model = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given context_length; write `\.context_length = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::Expect must be given params; write `\.params = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::Budget must be given ranks; write `\.ranks = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::Budget must be given bytes_per_rank; write `\.bytes_per_rank = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::Budget must be given micro_batch; write `\.micro_batch = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given vocab_size; write `\.vocab_size = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given n_layers; write `\.n_layers = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given n_heads; write `\.n_heads = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given d_model; write `\.d_model = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given context_length; write `\.context_length = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::LowRankSpec must be given rank; write `\.rank = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::LowRankSpec must be given alpha; write `\.alpha = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::MixtureSpec must be given n_experts; write `\.n_experts = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::MixtureSpec must be given top_k; write `\.top_k = \.\.\.`
#include "support/encoder.hpp"
using namespace monomorph;
/// The spec, or one of which nothing is given.
template <class Spec> constexpr Spec given(Spec spec) { return NEGATIVE ? Spec{} : spec; }
struct Case : Control {
  static constexpr auto model = given(Control::model);
  static constexpr auto mesh = given(MeshSpec{});
  static constexpr auto expect = given(Expect{.params = plan::params<Control>});
  static constexpr auto budget = given(Budget{.ranks = 1, .bytes_per_rank = gib(1), .micro_batch = 1});
};
struct Encoder : EncoderControl {
  static constexpr auto model = given(EncoderControl::model);
};
struct Adapted : Control {
  using finetuning = monomorph::finetuning::LowRank<given(LowRankSpec{.rank = 4, .alpha = 8})>;
};
struct OfExperts : Control {
  static constexpr auto model = changed([](DecoderSpec& model) { model.bias.mlp = false; });
  using layers = Stack<Run<Mixture<given(MixtureSpec{.n_experts = 4, .top_k = 2})>::Block, 6>>;
};
static_assert(admit<Case>());
static_assert(admit<Encoder>());
static_assert(admit<Adapted>());
static_assert(admit<OfExperts>());
