#pragma once
#include <monomorph/plan/attention.hpp>
#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/run.hpp>
#include <monomorph/train/commands/call_rules.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/describe/teacher_regions.hpp>
#include <monomorph/train/observe/step_observer.hpp>
#include <monomorph/train/step/generating_step.hpp>

namespace monomorph {

namespace detail {

template <class R> std::vector<train::LayerKind> layer_kinds() {
  std::vector<train::LayerKind> kinds;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    const std::string_view name = type_name<Block>();
    train::LayerKind kind{.count = run.length,
                          .name = name.substr(0, name.find('<')),
                          .is_plain_block = is_plain_block<R, Block>,
                          .mixture = mixture_of_block<R, Block>};
    if constexpr (is_plain_block<R, Block>) {
      kind.order = Block::block_order;
      if constexpr (plan::n_rotaries < R >> 1)
        if (const RotarySpec& own = trunk_of<typename Block::Tower>.rotary; own != trunk_of<R>.rotary)
          kind.rotary = &own;
    }
    if constexpr (requires { Block::template describe<R>(kind.features); }) Block::template describe<R>(kind.features);
    kinds.push_back(std::move(kind));
  });
  return kinds;
}

/// One entry for each run of layers that have an attention.
template <class R> std::vector<train::LayerAttention> attentions_of() {
  std::vector<train::LayerAttention> attentions;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    if constexpr (requires { typename Block::Attention; })
      attentions.push_back({run.length, Block::Attention::mask, Block::Attention::within_documents});
  });
  return attentions;
}

template <class R> constexpr std::string_view observer_name() {
  if constexpr (rule::HasObserver<R>)
    return type_name<typename R::observer>();
  else
    return "none";
}

template <class R> constexpr const LowRankSpec* low_rank_of() {
  if constexpr (HasAdapters<R>)
    return &finetuning_of<R>::low_rank;
  else
    return nullptr;
}
/// What the arguments of adapters' policy say is a fact of its own.
template <class R> constexpr std::string_view finetuning_name() {
  constexpr std::string_view name = type_name<finetuning_of<R>>();
  return HasAdapters<R> ? name.substr(0, name.find('<')) : name;
}

template <class R>
inline constexpr train::NamedPolicy named_policies[] = {{"sharding", type_name<typename R::sharding>(), false},
                                                        {"precision", type_name<typename R::precision>(), false},
                                                        {"state_dtype", name_of(R::precision::master_dtype)},
                                                        {"checkpointing", type_name<typename R::checkpointing>(),
                                                         false},
                                                        {"optimizer", type_name<typename R::optimizer>()},
                                                        {"attention", type_name<attention_of<R>>()},
                                                        {"finetuning", finetuning_name<R>()},
                                                        {"device", device_of<R>::name, false},
                                                        {"objective", type_name<objective_of<R>>()},
                                                        {"schedule", type_name<schedule_of<R>>(), false},
                                                        {"observer", observer_name<R>(), false}};

template <Recipe R> constexpr const Expect* expect_of() {
  if constexpr (rule::HasExpect<R>)
    return &R::expect;
  else
    return nullptr;
}
template <Recipe R> constexpr const Budget* budget_of() {
  if constexpr (rule::HasBudget<R>)
    return &R::budget;
  else
    return nullptr;
}

template <class Optimizer> double peak_rate(const PolicyHparams& policy_hparams) {
  return shown_rate<Optimizer>(policy_hparams.as<typename Optimizer::Hparams>());
}

template <Recipe R> constexpr auto observer_hparams_of() {
  if constexpr (rule::HasObserver<R>)
    if constexpr (ObserverAxis::Look::has_Hparams<typename R::observer>)
      return std::type_identity<typename R::observer::Hparams>{};
    else
      return std::type_identity<NoHparams>{};
  else
    return std::type_identity<NoHparams>{};
}
template <Recipe R> train::RecipeHparams hparams_of() {
  return {.optimizer = PolicyHparams::of<typename R::optimizer::Hparams>(),
          .objective = PolicyHparams::of<typename objective_of<R>::Hparams>(),
          .observer = PolicyHparams::of<typename decltype(observer_hparams_of<R>())::type>(),
          .schedule = train::ScheduleHparams::of<schedule_of<R>>()};
}

using MakeObserver = decltype(train::RecipeProgram::make_observer);
template <Recipe R> constexpr MakeObserver observer_maker() {
  if constexpr (rule::HasObserver<R>)
    return [](const PolicyHparams& hparams) -> Owned<train::StepObserver> {
      return make_owned<train::StepObserverOf<typename R::observer>>(hparams);
    };
  else
    return nullptr;
}

/// A step for either purpose: its schedule is compiled once.
template <Recipe R, class StepOf>
StepOf* new_step(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels,
                 const PolicyHparams& objective, plan::Purpose purpose) {
  return new StepOf(communicator, micro_batch, seed, tree_levels, objective.as<typename objective_of<R>::Hparams>(),
                    Transfers::Timing::at_once, purpose);
}

template <class Objective> constexpr auto prepare_of() -> decltype(train::RecipeProgram::prepare) {
  if constexpr (PreparesSamples<Objective>)
    return [](const Sample& sample, const PolicyHparams& hparams) {
      Objective::prepare(sample, hparams.as<typename Objective::Hparams>());
    };
  else
    return nullptr;
}

template <class Objective> train::ObjectiveReport report_of() {
  constexpr auto& metrics = metrics_of<Objective>;
  return {.metrics = {metrics.begin(), metrics.end()},
          .over_tokens = !is_over_embeddings<Objective> && !is_over_sequences<Objective>};
}

template <Recipe R> constexpr std::span<const ParameterGroup> groups_of() {
  if constexpr (plan::has_groups<R>)
    return R::optimizer::groups;
  else
    return {};
}

/// What must be known of a teacher's recipe to find its weights, and places for them.
template <class R> train::RecipeProgram model_of() {
  train::RecipeProgram model;
  model.name = std::string(type_name<typename R::Source>());
  model.model = &trunk_of<R>;
  model.output = ModelKind<SpecOf<R>>::output;
  model.described_model = train::described_model(R::model);
  model.compute_dtype = model.master_dtype = R::precision::compute_dtype;
  model.mesh = mesh_of<R>;
  model.policies = train::policy_facts(layer_kinds<R>(), named_policies<R>, mesh_of<R>, nullptr);
  model.n_params = plan::params<R>;
  model.n_blocks = plan::n_blocks<R>;
  model.first_block = plan::first_block<R>;
  model.unit_layout = plan::unit_layout<R>;
  model.trains_tensor = plan::trains_tensor<R>;
  model.n_units = plan::n_units<R>;
  model.wants_document_starts = attention_of<R>::within_documents;
  model.prefix_tokens = plan::longest_prefix<R>;
  model.layers = layer_kinds<R>();
  model.attentions = attentions_of<R>();
  return model;
}
template <Recipe R> constexpr auto teacher_of() -> decltype(train::RecipeProgram::teacher) {
  if constexpr (has_teacher<objective_of<R>>)
    return [] {
      train::RecipeProgram model = model_of<plan::TeacherOf<R>>();
      model.planned = plan::planned_teacher<R>;
      model.memory_regions = train::teacher_regions<R>;
      return model;
    };
  else
    return nullptr;
}

/// @tparam StepOf train::Step<R> for a program that generates nothing, for which no decoder is compiled
template <Recipe R, class StepOf = train::GeneratingStep<R>> train::RecipeProgram program_of() {
  return {.name = std::string(type_name<experiment_of<R>>()),
          .fingerprint = plan::fingerprint<R>,
          .state_fingerprint = plan::state_fingerprint<R>,
          .model = &trunk_of<R>,
          .output = ModelKind<SpecOf<R>>::output,
          .described_model = train::described_model(R::model),
          .compute_dtype = R::precision::compute_dtype,
          .gradient_dtype = R::precision::gradient_dtype,
          .reduce_dtype = R::precision::reduce_dtype,
          .master_dtype = R::precision::master_dtype,
          .device = device_of<R>::name,
          .device_use = [] { return device_use(typename device_of<R>::Queue{}); },
          .mesh = mesh_of<R>,
          .optimizer_shards = R::sharding::optimizer_shards,
          .policies = train::policy_facts(layer_kinds<R>(), named_policies<R>, mesh_of<R>, low_rank_of<R>()),
          .hparams = hparams_of<R>(),
          .peak_rate = peak_rate<typename R::optimizer>,
          .expectations = train::expectation_facts(expect_of<R>(), budget_of<R>()),
          .budget = budget_of<R>(),
          .n_params = plan::params<R>,
          .n_blocks = plan::n_blocks<R>,
          .first_block = plan::first_block<R>,
          .flops = plan::flops_per_token<R>,
          .memory = plan::memory<R>,
          .memory_regions = train::memory_regions<R>,
          .planned = plan::planned_recipe<R>(),
          .unit_layout = plan::grouped_layout<R>,
          .trains_tensor = plan::trains_tensor<R>,
          .quantizes_tensor = plan::quantizes<R> ? plan::quantizes_tensor<R> : nullptr,
          .groups = groups_of<R>(),
          .multipliers = plan::multipliers<R>,
          .low_rank = low_rank_of<R>(),
          .n_units = plan::n_units<R>,
          .wants_document_starts = attention_of<R>::within_documents,
          .prefix_tokens = plan::longest_prefix<R>,
          .predicts_next_token = predicts_next_token<objective_of<R>>,
          .texts_per_sample = texts_per_sample<objective_of<R>>(),
          .sequences_per_sample = sequences_per_sample<objective_of<R>>(),
          .objective = report_of<objective_of<R>>(),
          .teacher = teacher_of<R>(),
          .prepare = prepare_of<objective_of<R>>(),
          .layers = layer_kinds<R>(),
          .attentions = attentions_of<R>(),
          .connect = connect_ranks<typename device_of<R>::Queue>,
          .make_step = [](Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels,
                          const PolicyHparams& objective) -> Owned<train::TrainingStep> {
            return Owned<train::TrainingStep>(
                new_step<R, StepOf>(communicator, micro_batch, seed, tree_levels, objective, plan::Purpose::training));
          },
          .make_inference_model = [](Communicator& communicator, std::int64_t micro_batch,
                                     const PolicyHparams& objective) -> Owned<train::InferenceModel> {
            return Owned<train::InferenceModel>(
                new_step<R, StepOf>(communicator, micro_batch, 0, 0, objective, plan::Purpose::inference));
          },
          .caches_tokens =
              std::same_as<StepOf, train::GeneratingStep<R>>&& train::every_layer_decodes<R> && !makes_embeddings<R>,
          .observer = std::string(observer_name<R>()),
          .make_observer = observer_maker<R>()};
}

}  // namespace detail

template <class R> int run(int argc, char** argv) {
  static_assert(admit<R>());  // one error per broken rule,
  if constexpr (Recipe<R>) {  // and none from what follows
    static_assert(train::admit_calls<R>());
    if constexpr (decltype(train::call_rules<R>())::all_hold)
      return train::run_program(detail::program_of<R>(), argc, argv);
  }
  return 2;
}

}  // namespace monomorph
