#include "train/commands/describe_command.hpp"

#include "train/commands/checkpoint_options.hpp"
#include "train/describe/batch_partition.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/train/describe/describe.hpp>

#include <CLI/CLI.hpp>

namespace monomorph::train {
namespace {

template <class Spec> std::vector<std::pair<std::string, const Spec*>> by_name(std::span<const Spec> specs) {
  std::vector<std::pair<std::string, const Spec*>> choices;
  for (const Spec& spec : specs) choices.emplace_back(spec.name, &spec);
  return choices;
}

}  // namespace

void DescribeOptions::add_to(CLI::App& app) {
  auto& [cluster, ranks, micro_batch, global_batch] = question;
  add_number(app, "--ranks", ranks, "data-parallel ranks", {1, 1 << 20})->capture_default_str();
  add_number(app, "--micro-batch", micro_batch, "sequences per rank", {1, 1 << 20})->capture_default_str();
  auto* const gpu = add_choice(app, "--gpu", cluster.gpu, "predicts a step on GPUs of this kind", by_name(gpu_specs()));
  for (CLI::Option* const of_gpus :
       {add_choice(app, "--network", cluster.network, "between nodes, for each GPU", by_name(network_specs())),
        add_number(app, "--gpus-per-node", cluster.gpus_per_node, "that NVLink connects", {1, 1024})
            ->capture_default_str(),
        add_number(app, "--global-batch", global_batch,
                   "sequences of a step, over all ranks (default: one micro-batch a rank)", {1, std::int64_t{1} << 40}),
        app.add_flag("--search", searches, "proposes micro-batch, sharding and checkpointing that fit, fastest first")})
    of_gpus->needs(gpu);
}

int run_describe(const RecipeProgram& recipe, const DescribeOptions& options) {
  const ScalingQuestion& question = options.question;
  const bool predicts = question.cluster.gpu != nullptr;
  if (!options.searches) check_groups(recipe, question.ranks);
  if (predicts) check(recipe.planned, question);
  if (options.searches) {
    show(describe_search(recipe.planned, question));
    return 0;
  }
  show(describe(recipe, question.ranks, question.micro_batch));
  if (predicts) show(describe_scaling(recipe.planned, question));
  return 0;
}

}  // namespace monomorph::train
