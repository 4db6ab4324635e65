// Of every field of every spec, all at once, each is told once. A new field needs a line here.
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::vocab_size must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_layers must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::d_model must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::context_length must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_kv_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::head_dim must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::d_ff must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::d_ff_multiple must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::vocab_multiple must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::kind must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::epsilon must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::bias must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::qk_norm must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::activation must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::position must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::RotarySpec::base must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::low_frequency_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::high_frequency_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LinearRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DynamicRotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DynamicRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::beta_fast must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::beta_slow must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::attention_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::truncate must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MultiplierSpec::embedding must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MultiplierSpec::attention must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::SoftCapSpec::scores must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::SoftCapSpec::logits must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::qkv must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::attention_out must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::mlp must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::tied_head must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::embedding must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::attention must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::residual must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::attention_kernel must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::InitializationSpec::scheme must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::InitializationSpec::std must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MeshSpec::tp must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MeshSpec::pp must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MeshSpec::cp must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Expect::params must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Budget::ranks must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Budget::bytes_per_rank must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Budget::micro_batch must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::vocab_size must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::n_layers must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::n_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::d_model must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::context_length must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::pooling must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::d_embedding must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::unit_length must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::n_kv_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::head_dim must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::d_ff must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::d_ff_multiple must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::vocab_multiple must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::kind must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::epsilon must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::NormSpec::bias must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::qk_norm must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::activation must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::position must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::RotarySpec::base must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::low_frequency_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::high_frequency_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LinearRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DynamicRotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DynamicRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::original_context must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::beta_fast must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::beta_slow must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::attention_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::YarnRotaryScaling::truncate must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MultiplierSpec::embedding must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MultiplierSpec::attention must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::SoftCapSpec::scores must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::SoftCapSpec::logits must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::qkv must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::attention_out must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BiasSpec::mlp must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::embedding must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::attention must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DropoutSpec::residual must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::attention_kernel must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::InitializationSpec::scheme must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::InitializationSpec::std must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankSpec::rank must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankSpec::alpha must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankSpec::rank_stabilised must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankSpec::dropout must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::query must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::key must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::value must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::output must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::gate must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::up must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::LowRankTargets::down must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BlockShape::n_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BlockShape::n_kv_heads must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BlockShape::head_dim must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::BlockShape::d_ff must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::n_experts must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::top_k must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::d_expert must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::capacity_factor must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::n_shared must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::scores must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::normalize must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::balance_loss must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::z_loss must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::MixtureSpec::bias_rate must be given as what its type can hold
#include "support/encoder.hpp"
using namespace monomorph;
template <class Spec> constexpr void narrow(Spec& spec) {
  for_each_field(spec, [](const char*, auto& field) {
    if constexpr (DescribedSpec<std::remove_reference_t<decltype(field)>>)
      narrow(field);
    else
      field.narrowed = NEGATIVE;
  });
}
template <class Spec> constexpr Spec narrowed(Spec spec) {
  narrow(spec);
  return spec;
}
struct Case : Control {
  static constexpr auto model = narrowed(Control::model);
  static constexpr auto mesh = narrowed(MeshSpec{});
  static constexpr auto expect = narrowed(Expect{.params = plan::params<Control>});
  static constexpr auto budget = narrowed(Budget{.ranks = 1, .bytes_per_rank = gib(1), .micro_batch = 1});
};
struct Encoder : EncoderControl {
  static constexpr auto model = narrowed(EncoderControl::model);
};
struct Adapted : Control {
  using finetuning = monomorph::finetuning::LowRank<narrowed(LowRankSpec{.rank = 4, .alpha = 8})>;
};
struct OfOtherShape : Control {
  using layers = Stack<Run<Shaped<narrowed(BlockShape{.d_ff = 96})>::Block, 6>>;
};
struct OfExperts : Control {
  static constexpr auto model = changed([](DecoderSpec& model) { model.bias.mlp = false; });
  using layers = Stack<Run<Mixture<narrowed(MixtureSpec{.n_experts = 4, .top_k = 2})>::Block, 6>>;
};
static_assert(admit<Case>());
static_assert(admit<Encoder>());
static_assert(admit<Adapted>());
static_assert(admit<OfOtherShape>());
static_assert(admit<OfExperts>());
