#pragma once
#include <monomorph/block/autograd_block.hpp>
#include <monomorph/run.hpp>

/// What layers, parts of blocks and kinds of model may leave out, each misspelt.
namespace own {

struct Spec {
  monomorph::DecoderSpec decoder{};
  friend constexpr bool operator==(const Spec&, const Spec&) = default;
};

template <class R> struct Between {
  static constexpr monomorph::UnitKind unit_kind = monomorph::UnitKind::head;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  using Saved = monomorph::Nothing;
  using Temporary = monomorph::Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void forward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  static void backward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  // misspelt: share_first_unit of own::Between<recipes::misspelt_layers>, did you mean shares_first_unit
  static constexpr bool share_first_unit = true;
  // misspelt: backward_reads_parms of own::Between<recipes::misspelt_layers>, did you mean backward_reads_params
  static constexpr bool backward_reads_parms = false;
  // misspelt: gather_elements of own::Between<recipes::misspelt_layers>, did you mean gathered_elements
  static constexpr std::int64_t gather_elements(std::int64_t M) { return M; }
  // misspelt: lost_flops_per_token of own::Between<recipes::misspelt_layers>, did you mean loss_flops_per_token
  static constexpr double lost_flops_per_token(std::int64_t, int) { return 0; }
  // misspelt: decoded of own::Between<recipes::misspelt_layers>, did you mean decode
  static void decoded(const monomorph::DecodeTensorsOf<R>& t);
  // misspelt: DecodeCach of own::Between<recipes::misspelt_layers>, did you mean DecodeCache
  struct DecodeCach {};
  // misspelt: DecodTemporary of own::Between<recipes::misspelt_layers>, did you mean DecodeTemporary
  struct DecodTemporary {};
  static constexpr int width = 1;  // near nothing
};

template <class R> struct Block : monomorph::AutogradBlock<Block<R>> {
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static at::Tensor compute(const monomorph::AutogradInput& in);
  // misspelt: unit_kinds of own::Block<recipes::misspelt_layers>, did you mean unit_kind
  static constexpr monomorph::UnitKind unit_kinds = monomorph::UnitKind::block;
  // misspelt: within_document of own::Block<recipes::misspelt_layers>, did you mean within_documents
  static constexpr bool within_document = true;
  // misspelt: attention_flop_per_token of own::Block<recipes::misspelt_layers>, did you mean attention_flops_per_token
  static constexpr double attention_flop_per_token() { return 0; }
  // misspelt: n_counter of own::Block<recipes::misspelt_layers>, did you mean n_counters
  static constexpr int n_counter = 1;
  // misspelt: has_auxilliary_loss of own::Block<recipes::misspelt_layers>, did you mean has_auxiliary_loss
  static constexpr bool has_auxilliary_loss = true;
  // clang-format off
  // misspelt: recompute_flops_per_token of own::Block<recipes::misspelt_layers>, did you mean recomputed_flops_per_token
  // clang-format on
  static constexpr double recompute_flops_per_token() { return 0; }
  // misspelt: idle_parameter of own::Block<recipes::misspelt_layers>, did you mean idle_parameters
  static constexpr std::int64_t idle_parameter() { return 1; }
  // misspelt: atention of own::Block<recipes::misspelt_layers>, did you mean Attention
  using atention = monomorph::attention::Causal;
  using Towr = R;      // misspelt: Towr of own::Block<recipes::misspelt_layers>, did you mean Tower
  using MlpPrt = int;  // misspelt: MlpPrt of own::Block<recipes::misspelt_layers>, did you mean MlpPart
};

template <class R> struct Mlp : monomorph::DenseMlp<R> {
  // misspelt: n_countrs of own::Mlp<recipes::misspelt_layers>, did you mean n_counters
  static constexpr int n_countrs = 1;
  // misspelt: update_stats of own::Mlp<recipes::misspelt_layers>, did you mean update_state
  static void update_stats();
};
/// A part is looked at before the rules judge whether it is one.
template <class R> struct Part {
  // misspelt: decod of own::Part<recipes::misspelt_layers>, did you mean decode
  static void decod(const monomorph::PartDecode<Part>& t);
  // clang-format off
  // misspelt: projections_flops_per_token of own::Part<recipes::misspelt_layers>, did you mean projection_flops_per_token
  // clang-format on
  static constexpr std::int64_t projections_flops_per_token() { return 0; }
  // misspelt: computed_flops_per_token of own::Part<recipes::misspelt_layers>, did you mean compute_flops_per_token
  static constexpr std::int64_t computed_flops_per_token(monomorph::Recompute) { return 0; }
  // misspelt: descripe of own::Part<recipes::misspelt_layers>, did you mean describe
  template <class Recipe> static void descripe(auto& to);
  // misspelt: need of own::Part<recipes::misspelt_layers>, did you mean needs
  using need = monomorph::KernelSets<>;
  // misspelt: rulse of own::Part<recipes::misspelt_layers>, did you mean rules
  template <class Recipe> using rulse = monomorph::RuleList<>;
};

}  // namespace own

MONOMORPH_SPEC(own::Spec, decoder);
template <> struct monomorph::ModelKind<own::Spec> {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const own::Spec& model) { return model.decoder; }
  template <class Blocks>
  using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks, Stack<Run<own::Between, 1>, Run<VocabularyHead, 1>>>;
  // misspelt: rulez of monomorph::ModelKind<own::Spec>, did you mean rules
  template <class R> using rulez = RuleList<>;
};

namespace recipes {

struct misspelt_layers {
  static constexpr own::Spec model{
      .decoder = {.vocab_size = 300, .n_layers = 3, .n_heads = 4, .d_model = 64, .context_length = 32}};
  using layers =
      monomorph::Stack<monomorph::Run<own::Block, 1>,
                       monomorph::Run<monomorph::Composed<monomorph::BlockOrder::pre_norm, own::Mlp>::Block, 1>,
                       monomorph::Run<monomorph::Composed<monomorph::BlockOrder::parallel, own::Part>::Block, 1>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
