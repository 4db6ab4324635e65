#pragma once
#include <monomorph/plan/attention.hpp>
#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/run.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/observe/step_observer.hpp>
#include <monomorph/train/step/step.hpp>

namespace monomorph {

namespace detail {

/// The model, or an encoder without what makes embeddings.
template <class R>
inline constexpr ModelSpec trunk_of = [] {
  if constexpr (is_encoder<R>)
    return R::model.trunk();
  else
    return R::model;
}();

template <Recipe R> std::vector<train::LayerKind> layer_kinds() {
  std::vector<train::LayerKind> kinds;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    const std::string_view name = type_name<Block>();
    train::LayerKind kind{.count = run.length, .name = std::string(name.substr(0, name.find('<')))};
    if constexpr (requires { typename Block::Attention; })
      if (!std::is_same_v<typename Block::Attention, attention_of<R>>)
        kind.attention = type_name<typename Block::Attention>();
    if constexpr (requires { typename Block::MlpPart; }) {
      kind.order = Block::block_order;
      kind.model = &trunk_of<typename Block::Tower>;
      if constexpr (requires { Block::MlpPart::mixture; }) kind.mixture = &Block::MlpPart::mixture;
    }
    kinds.push_back(kind);
  });
  return kinds;
}

/// Of the runs of layers that have an attention.
template <Recipe R> std::vector<train::LayerAttention> attentions_of() {
  std::vector<train::LayerAttention> attentions;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    if constexpr (requires { typename Block::Attention; })
      attentions.push_back({run.length, Block::Attention::mask, Block::Attention::within_documents});
  });
  return attentions;
}

template <Recipe R> std::string observer_text() {
  if constexpr (rule::HasObserver<R>)
    return std::string(type_name<typename R::observer>());
  else
    return "none";
}

template <Recipe R> std::vector<train::Fact> policies_of() {
  constexpr MeshSpec mesh = mesh_of<R>;
  return {{"layers", train::layers_text(layer_kinds<R>(), trunk_of<R>)},
          {"sharding", std::string(type_name<typename R::sharding>()), false},
          {"precision", std::string(type_name<typename R::precision>()), false},
          {"state_dtype", std::string(name_of(R::precision::master_dtype))},
          {"checkpointing", std::string(type_name<typename R::checkpointing>()), false},
          {"optimizer", std::string(type_name<typename R::optimizer>())},
          {"attention", std::string(type_name<attention_of<R>>())},
          {"finetuning", std::string(type_name<finetuning_of<R>>())},
          {"device", std::string(device_of<R>::name), false},
          {"objective", std::string(type_name<objective_of<R>>())},
          {"schedule", std::string(type_name<schedule_of<R>>()), false},
          {"observer", observer_text<R>(), false},
          {"mesh",
           "tp " + std::to_string(mesh.tp) + ", pp " + std::to_string(mesh.pp) + ", cp " + std::to_string(mesh.cp),
           false}};
}

template <Recipe R> std::vector<train::Fact> expectations_of() {
  std::string expect = "none", budget = "none";
  if constexpr (rule::HasExpect<R>) expect = "params " + std::to_string(R::expect.params.value);
  if constexpr (rule::HasBudget<R>)
    budget = "ranks " + std::to_string(R::budget.ranks.value) + ", bytes_per_rank " +
             std::to_string(R::budget.bytes_per_rank.value) + ", micro_batch " +
             std::to_string(R::budget.micro_batch.value);
  return {{"expect", expect, false}, {"budget", budget, false}};
}

template <class Optimizer> double peak_rate(const PolicyHparams& policy_hparams) {
  const auto& hparams = policy_hparams.as<typename Optimizer::Hparams>();
  if constexpr (requires { Optimizer::shown_rate(hparams); })
    return Optimizer::shown_rate(hparams);
  else
    return hparams.lr;
}

template <Recipe R> train::Hparams default_hparams() {
  train::Hparams hparams;
  hparams.optimizer.policy = PolicyHparams::of<typename R::optimizer::Hparams>();
  hparams.loss.policy = PolicyHparams::of<typename objective_of<R>::Hparams>();
  hparams.schedule = train::ScheduleHparams::of<schedule_of<R>>();
  if constexpr (rule::HasObserver<R>)
    if constexpr (requires { typename R::observer::Hparams; })
      hparams.observer.policy = PolicyHparams::of<typename R::observer::Hparams>();
  return hparams;
}

using MakeObserver = decltype(train::RecipeProgram::make_observer);
template <Recipe R> constexpr MakeObserver observer_maker() {
  if constexpr (rule::HasObserver<R>)
    return [](const PolicyHparams& hparams) -> std::unique_ptr<train::StepObserver> {
      return std::make_unique<train::StepObserverOf<typename R::observer>>(hparams);
    };
  else
    return nullptr;
}

template <class Objective> constexpr auto prepare_of() -> decltype(train::RecipeProgram::prepare) {
  if constexpr (PreparesSamples<Objective>)
    return [](const Sample& sample, const PolicyHparams& hparams) {
      Objective::prepare(sample, hparams.as<typename Objective::Hparams>());
    };
  else
    return nullptr;
}

template <Recipe R> constexpr const EncoderSpec* encoder_of() {
  if constexpr (is_encoder<R>)
    return &R::model;
  else
    return nullptr;
}

template <class Objective> train::ObjectiveReport report_of() {
  constexpr auto& metrics = metrics_of<Objective>;
  return {.metrics = {metrics.begin(), metrics.end()}, .over_tokens = !is_over_embeddings<Objective>};
}
template <class Objective> constexpr std::int64_t texts_per_sample_of() {
  if constexpr (is_over_embeddings<Objective>)
    return Objective::texts_per_sample;
  else
    return 0;
}

template <Recipe R> train::RecipeProgram program_of() {
  return {.name = std::string(type_name<R>()),
          .fingerprint = plan::fingerprint<R>,
          .state_fingerprint = plan::state_fingerprint<R>,
          .model = &trunk_of<R>,
          .encoder = encoder_of<R>(),
          .compute_dtype = R::precision::compute_dtype,
          .gradient_dtype = R::precision::gradient_dtype,
          .reduce_dtype = R::precision::reduce_dtype,
          .mesh = mesh_of<R>,
          .optimizer_shards = R::sharding::optimizer_shards,
          .policies = policies_of<R>(),
          .hparams = default_hparams<R>(),
          .peak_rate = peak_rate<typename R::optimizer>,
          .expectations = expectations_of<R>(),
          .n_params = plan::params<R>,
          .n_blocks = plan::n_blocks<R>,
          .flops = plan::flops_per_token<R>,
          .memory = plan::memory<R>,
          .unit_layout = plan::unit_layout<R>,
          .n_units = plan::n_units<R>,
          .wants_document_starts = attention_of<R>::within_documents,
          .prefix_tokens = plan::longest_prefix<R>,
          .predicts_next_token = predicts_next_token<objective_of<R>>,
          .texts_per_sample = texts_per_sample_of<objective_of<R>>(),
          .objective = report_of<objective_of<R>>(),
          .prepare = prepare_of<objective_of<R>>(),
          .attentions = attentions_of<R>(),
          .make_step = [](Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels,
                          const PolicyHparams& objective) -> std::unique_ptr<train::TrainingStep> {
            return std::make_unique<train::Step<R>>(communicator, micro_batch, seed, tree_levels,
                                                    objective.as<typename objective_of<R>::Hparams>());
          },
          .observer = observer_text<R>(),
          .make_observer = observer_maker<R>()};
}

}  // namespace detail

template <class R> int run(int argc, char** argv) {
  static_assert(admit<R>());  // one error per broken rule,
  if constexpr (Recipe<R>)    // and none from what follows
    return train::run_program(detail::program_of<R>(), argc, argv);
  else
    return 2;
}

}  // namespace monomorph
