#pragma once
#include <monomorph/run.hpp>

/// What policies, blocks and kinds of model may leave out, each misspelt. A helper that is near nothing may stay.
namespace own {

struct Sharding : monomorph::sharding::FullShard {
  // misspelt: paramter_space of own::Sharding, did you mean parameter_space
  static constexpr auto paramter_space = monomorph::MemorySpace::host;
  // misspelt: groups of own::Sharding, did you mean group
  static constexpr int groups = 2;
};
struct Precision : monomorph::precision::Fp32 {
  template <class R> using rule = monomorph::RuleList<>;  // misspelt: rule of own::Precision, did you mean rules
  static constexpr int regulated = 1;
  // misspelt: logit_dtype of own::Precision, did you mean logits_dtype
  static constexpr auto logit_dtype = monomorph::DType::bf16;
};
struct Checkpointing : monomorph::checkpointing::KeepAll {
  static constexpr bool offload(int) { return true; }  // misspelt: offload of own::Checkpointing, did you mean offloads
};
struct Optimizer {
  using Hparams = monomorph::optim::AdamW::Hparams;
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass) { return {"moment"}; }
  static constexpr monomorph::UpdateScope scope(monomorph::ParameterClass) { return monomorph::UpdateScope::elements; }
  static void update(auto queue, const auto& run, const Hparams&, const auto& terms);
  // misspelt: show_rate of own::Optimizer, did you mean shown_rate
  static double show_rate(const Hparams&) { return 0; }
  // misspelt: state_dtyp of own::Optimizer, did you mean state_dtype
  static constexpr auto state_dtyp = monomorph::DType::bf16;
  // misspelt: statespace of own::Optimizer, did you mean state_space
  static constexpr auto statespace = monomorph::MemorySpace::host;
  using place = Optimizer;              // misspelt: place of own::Optimizer, did you mean placed
  using without_placment = Optimizer;   // misspelt: without_placment of own::Optimizer, did you mean without_placement
  static constexpr int state_size = 2;  // and this is near nothing
};
struct Objective : monomorph::objective::NextToken {
  // misspelt: prepares of own::Objective, did you mean prepare
  static void prepares(const monomorph::Sample&, const Hparams&) {}
  // misspelt: metric of own::Objective, did you mean metrics
  static constexpr std::array<monomorph::ObjectiveMetric, 1> metric{{{"seen"}}};
};
struct Schedule {
  struct Hparams {};
  static monomorph::ScheduledRate rate(const Hparams&, std::int64_t, std::int64_t) { return {}; }
  // misspelt: validates of own::Schedule, did you mean validate
  static void validates(const Hparams&, std::int64_t, monomorph::Mistakes&) {}
};
struct Observer {
  struct HParam {};  // misspelt: HParam of own::Observer, did you mean Hparams
  static bool wants(std::int64_t) { return false; }
  static void observe(const auto&, auto&) {}
};
struct Finetuning : monomorph::finetuning::All {
  // misspelt: low_ranks of own::Finetuning, did you mean low_rank
  static constexpr monomorph::LowRankSpec low_ranks{.rank = 4, .alpha = 8};
  // misspelt: select of own::Finetuning, did you mean selected
  static constexpr monomorph::ParameterSelector select[] = {"embedding.*"};
  // misspelt: trains_parameters of own::Finetuning, did you mean trains_parameter
  static constexpr bool trains_parameters(std::string_view, monomorph::ParameterClass) { return true; }
  // misspelt: quantises_parameter of own::Finetuning, did you mean quantizes_parameter
  static constexpr bool quantises_parameter(std::string_view, monomorph::ParameterClass) { return true; }
};
struct Device : monomorph::device::Cpu {
  // misspelt: own_memry of own::Device, did you mean own_memory
  static constexpr bool own_memry = true;
  // misspelt: workspace_byte of own::Device, did you mean workspace_bytes
  static constexpr std::int64_t workspace_byte(const monomorph::PassExtent&) { return 1; }
  // misspelt: contxt_bytes of own::Device, did you mean context_bytes
  static constexpr std::int64_t contxt_bytes = 1;
};

}  // namespace own

namespace recipes {

struct misspelt_parts {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = own::Sharding;
  using precision = own::Precision;
  using checkpointing = own::Checkpointing;
  using optimizer = own::Optimizer;
  using schedule = own::Schedule;
  using objective = own::Objective;
  using observer = own::Observer;
  using finetuning = own::Finetuning;
  using device = own::Device;
};

}  // namespace recipes
