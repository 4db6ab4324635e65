#pragma once
#include <monomorph/plan/layer_work.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/plan/recomputed_work.hpp>
#include <monomorph/plan/teacher.hpp>

namespace monomorph::plan {

/// The plan of a recipe as values and function pointers: what predictions need of it, on any number of ranks and with
/// any strategy, without its type.
struct PlannedRecipe {
  const DecoderSpec* trunk = nullptr;  ///< the sizes that models of every kind have
  bool makes_logits = true;            ///< and not embeddings
  DType compute_dtype{}, gradient_dtype{}, reduce_dtype{}, master_dtype{};
  DType product_dtype{};  ///< of the factors of the blocks' products: e4m3 in fp8, or else the compute dtype
  DType logits_dtype{};
  bool shares_transforms = false;  ///< plan::shares_transforms
  int n_layers = 0, first_block = 0;
  Strategy (*strategy)(int dp) = nullptr;  ///< the recipe's own
  Memory (*memory)(const Strategy&, int dp, std::int64_t micro_batch, int tree_levels) = nullptr;
  LayerWork (*layer_work)(int layer) = nullptr;
  RecomputedWork (*recomputed_work)(int layer, Recompute again) = nullptr;
  FlopsPerToken (*flops)(std::int64_t micro_batch, int ranks) = nullptr;
  /// The most of what each layer's attention says.
  std::int64_t (*most_of_layers)(std::int64_t micro_batch, Purpose purpose,
                                 std::int64_t (*bytes_of)(const PassExtent&)) = nullptr;
  std::int64_t (*loss_chunk_tokens)(std::int64_t n_tokens) = nullptr;  ///< on the device that the recipe is built for
  /// Of training, on a device of so many elements of scratch memory for a batch.
  std::int64_t (*optimizer_workspace_elements)(std::int64_t batch_scratch) = nullptr;
  const PlannedRecipe* teacher = nullptr;  ///< null without one
};

template <class R> constexpr PlannedRecipe planned_recipe();
template <class R> inline constexpr PlannedRecipe planned_teacher = planned_recipe<TeacherOf<R>>();

template <class R> constexpr PlannedRecipe planned_recipe() {
  using Precision = typename R::precision;
  const PlannedRecipe* teacher = nullptr;
  if constexpr (has_teacher<objective_of<R>>) teacher = &planned_teacher<R>;
  return {.trunk = &trunk_of<R>,
          .makes_logits = !makes_embeddings<R>,
          .compute_dtype = Precision::compute_dtype,
          .gradient_dtype = Precision::gradient_dtype,
          .reduce_dtype = Precision::reduce_dtype,
          .master_dtype = Precision::master_dtype,
          .product_dtype = scales_products<Precision> ? DType::e4m3 : Precision::compute_dtype,
          .logits_dtype = logits_dtype<Precision>(),
          .shares_transforms = shares_transforms<R>,
          .n_layers = n_layers<R>,
          .first_block = first_block<R>,
          .strategy = strategy_of<R>,
          .memory = memory_with<R>,
          .layer_work = layer_work<R>,
          .recomputed_work = recomputed_work<R>,
          .flops = flops_per_token<R>,
          .most_of_layers = most_of_layers<R>,
          .loss_chunk_tokens = monomorph::loss_chunk_tokens<R>,
          .optimizer_workspace_elements = optimizer_workspace_elements<R>,
          .teacher = teacher};
}

}  // namespace monomorph::plan
