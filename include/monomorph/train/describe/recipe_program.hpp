#pragma once
#include <monomorph/block/sublayer.hpp>
#include <monomorph/core/owned.hpp>
#include <monomorph/core/sample.hpp>
#include <monomorph/plan/planned_recipe.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/policy/parameter_group.hpp>
#include <monomorph/runtime/comm/connect_ranks.hpp>
#include <monomorph/runtime/machine/computed_by.hpp>
#include <monomorph/spec/attention_mask.hpp>
#include <monomorph/spec/expectations.hpp>
#include <monomorph/spec/low_rank_spec.hpp>
#include <monomorph/spec/mesh_spec.hpp>
#include <monomorph/spec/mixture_spec.hpp>
#include <monomorph/spec/tensor_info.hpp>
#include <monomorph/train/describe/block_features.hpp>
#include <monomorph/train/describe/memory_regions.hpp>
#include <monomorph/train/describe/model_facts.hpp>
#include <monomorph/train/hparams/recipe_hparams.hpp>
#include <monomorph/train/step/objective_report.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

class StepObserver;  // train/observe/step_observer.hpp

/// What `layers` successive layers attend to.
struct LayerAttention {
  int layers;
  AttentionMask mask;
  bool within_documents;
};

/// What `count` successive layers are.
struct LayerKind {
  int count;
  std::string_view name;                 ///< of the block, without its arguments
  bool is_plain_block = false;           ///< the model's sizes, a mask, the order and `rotary` say all that it computes
  const RotarySpec* rotary = nullptr;    ///< by which a plain block turns, where it is not the model's
  BlockOrder order{};                    ///< of a plain block
  const MixtureSpec* mixture = nullptr;  ///< these, the model's sizes, and a mask do
  BlockFeatures features{};              ///< what it says of itself
};
/// "monomorph::Mixture (8 experts, …)": what is not as usual in parentheses.
std::string text_of(const LayerKind& kind);
/// What a recipe has on an axis, named by the compiler.
struct NamedPolicy {
  std::string_view axis, name;
  bool shapes_state = true;  ///< as of Fact
};
/// Facts are made here and not in each recipe, where making strings would take longer to compile than a block.
/// @param low_rank null if the recipe has no adapters
std::vector<Fact> policy_facts(const std::vector<LayerKind>& layers, std::span<const NamedPolicy> policies,
                               const MeshSpec& mesh, const LowRankSpec* low_rank);
/// @param expect, budget null if the recipe has none
std::vector<Fact> expectation_facts(const Expect* expect, const Budget* budget);

/// A recipe as values and function pointers: what the program around the step, compiled once for all recipes, needs of
/// it. Made by program_of<R>().
struct RecipeProgram {
  std::string name;
  std::uint64_t fingerprint = 0, state_fingerprint = 0;
  const DecoderSpec* model = nullptr;  ///< the trunk: the sizes that models of every kind have
  ModelOutput output{};
  DescribedModel described_model;
  DType compute_dtype{}, gradient_dtype{}, reduce_dtype{}, master_dtype{};
  std::string_view device;              ///< where it computes: the name of the policy
  DeviceUse (*device_use)() = nullptr;  ///< of this rank's, now
  MeshSpec mesh;
  int (*optimizer_shards)(int dp) = nullptr;  ///< ranks that hold one copy of the optimiser's state together
  std::vector<Fact> policies;
  RecipeHparams hparams;
  double (*peak_rate)(const PolicyHparams& optimizer) = nullptr;  ///< the learning rate that the log shows
  std::vector<Fact> expectations;                                 ///< `expect` and `budget`
  const Budget* budget = nullptr;                                 ///< null if the recipe has none
  std::int64_t n_params = 0;
  int n_blocks = 0, first_block = 0;  ///< units of blocks, and units before them
  /// @param micro_batch, ranks: as of plan::flops_per_token()
  plan::FlopsPerToken (*flops)(std::int64_t micro_batch, int ranks) = nullptr;
  plan::Memory (*memory)(int dp, std::int64_t micro_batch, int tree_levels) = nullptr;
  /// Whether it computes in a memory of a device's own, and not in the host's.
  bool has_own_memory() const { return !memory(1, 1, 0).arena_on_host; }
  runtime::ComputedBy computed_by() const {
    return has_own_memory() ? runtime::ComputedBy::device : runtime::ComputedBy::cores;
  }
  std::vector<MemoryRegion> (*memory_regions)(int dp, std::int64_t micro_batch, int tree_levels) = nullptr;
  plan::PlannedRecipe planned;
  ParameterLayout (*unit_layout)(int unit) = nullptr;  ///< its tensors with their groups
  bool (*trains_tensor)(int unit, const TensorInfo& tensor) = nullptr;
  bool (*quantizes_tensor)(int unit, const TensorInfo& tensor) = nullptr;  ///< null if none is kept in NF4
  std::span<const ParameterGroup> groups;                                  ///< that the optimiser lists
  Multipliers (*multipliers)(int unit, int group) = nullptr;
  const LowRankSpec* low_rank = nullptr;  ///< of the adapters that are trained; null if there are none
  int n_units = 0;
  /// The number of the block whose unit this is; -1 if it is of no block.
  int block_of_unit(int unit) const {
    const int block = unit - first_block;
    return 0 <= block && block < n_blocks ? block : -1;
  }
  bool wants_document_starts = false;     ///< micro-batches say where documents begin
  std::int64_t prefix_tokens = 0;         ///< plan::longest_prefix
  bool predicts_next_token = true;        ///< or else tokens that the objective hides, or no tokens
  std::int64_t texts_per_sample = 0;      ///< of an objective over embeddings
  std::int64_t sequences_per_sample = 0;  ///< of an objective over sequences
  ObjectiveReport objective;
  /// The model that the objective learns from, as what reads weights, and finds places in memory, sees a recipe: of its
  /// fields those of the model, its layers, its tensors and where they lie. Null if there is none.
  RecipeProgram (*teacher)() = nullptr;
  void (*prepare)(const Sample&, const PolicyHparams& objective) = nullptr;  ///< null if the objective prepares nothing
  std::vector<LayerKind> layers;
  std::vector<LayerAttention> attentions;
  /// Connects data-parallel ranks on the recipe's device.
  Owned<Communicator> (*connect)(const World&, const RankGroup& data, const CommunicatorSpec&) = nullptr;
  Owned<TrainingStep> (*make_step)(Communicator&, std::int64_t micro_batch, std::uint64_t seed, int tree_levels,
                                   const PolicyHparams& objective) = nullptr;
  /// With nothing of training, and without first values.   @param micro_batch 0 for token passes alone, of a recipe
  /// that caches tokens
  Owned<InferenceModel> (*make_inference_model)(Communicator&, std::int64_t micro_batch,
                                                const PolicyHparams& objective) = nullptr;
  bool caches_tokens = false;  ///< all layers extend sequences against a cache
  std::string observer = "none";
  Owned<StepObserver> (*make_observer)(const PolicyHparams& hparams) = nullptr;  ///< null if there is none
};

/// The command line of every recipe's program: train, describe, schema, check, evaluate, generate, retrieve, embed, …
int run_program(const RecipeProgram& recipe, int argc, char** argv);

}  // namespace monomorph::train
