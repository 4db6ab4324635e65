#include "train/commands/describe_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/checkpoint_options.hpp"
#include "train/describe/batch_partition.hpp"
#include "train/describe/memory_snapshot.hpp"
#include "train/describe/micro_batch_choice.hpp"
#include "train/scaling/device_memory.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/machine/gpus.hpp>
#include <monomorph/train/describe/describe.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace monomorph::train {
namespace {

template <class Spec> std::vector<std::pair<std::string, const Spec*>> by_name(std::span<const Spec> specs) {
  std::vector<std::pair<std::string, const Spec*>> choices;
  for (const Spec& spec : specs) choices.emplace_back(spec.name, &spec);
  return choices;
}

/// The GPU of this machine, where the program computes on it and its data sheet is known; else null.
const GpuSpec* gpu_here(const RecipeProgram& recipe, const ScalingQuestion& question) {
  const std::vector<Gpu> found = gpus();
  if (!recipe.has_own_memory() || found.empty() || question.ranks > question.cluster.gpus_per_node) return nullptr;
  const GpuSpec* const gpu = find_gpu_of_driver(found.front().name, found.front().memory_bytes);
  return gpu != nullptr && peak_flops(*gpu, recipe.planned.product_dtype) > 0 ? gpu : nullptr;
}

/// @throws UsageError [RUN-13]
void check_global_batch_option(const DescribeOptions& options, bool predicts) {
  const bool given = options.question.global_batch > 0;
  if (!options.micro_batch && !given)
    throw UsageError("RUN-13", "--micro-batch auto must have --global-batch, which it is to divide; give both");
  if (given && options.micro_batch && !predicts)
    throw UsageError("RUN-13",
                     "--global-batch must have --gpu or --micro-batch auto, as nothing else depends on it; "
                     "leave it out");
}

MicroBatchChoice micro_batch_on_gpus(const RecipeProgram& recipe, const ScalingQuestion& question) {
  const GpuSpec& gpu = *question.cluster.gpu;
  const plan::Strategy strategy = recipe.planned.strategy(question.ranks);
  const auto fits_gpu = [&](std::int64_t micro_batch) {
    return fits(memory_on_gpu(recipe.planned, strategy, question.ranks, micro_batch), gpu);
  };
  return {largest_fitting(question.global_batch, question.ranks, question.global_batch, fits_gpu),
          fmt::format("the most that divide a rank's {} sequences and fit {:.0f} % of the {} of {}",
                      question.global_batch / question.ranks, 100 * usable_memory, format_bytes(gpu.memory_bytes),
                      gpu.name)};
}

/// As a run would choose it, each rank on a machine like this one.
MicroBatchChoice micro_batch_of(const RecipeProgram& recipe, const DescribeOptions& options) {
  const ScalingQuestion& question = options.question;
  if (options.micro_batch) return {*options.micro_batch, "as given"};
  if (question.cluster.gpu != nullptr) return micro_batch_on_gpus(recipe, question);
  Hparams hparams;
  hparams.batch.global_batch.value = question.global_batch;
  return choose_micro_batch(recipe, hparams, {question.ranks, 1}, free_memory_if_known(recipe));
}

}  // namespace

void DescribeOptions::add_to(CLI::App& app) {
  auto& cluster = question.cluster;
  add_number(app, "--ranks", question.ranks, "data-parallel ranks", {1, 1 << 20})->capture_default_str();
  auto* const sequences =
      add_number_or(app, "--micro-batch", micro_batch, "auto",
                    "sequences per rank; auto: as a run on this machine, or on the GPUs, would choose them",
                    {1, 1 << 20})
          ->capture_default_str();
  add_number(app, "--global-batch", question.global_batch,
             "sequences of a step, over all ranks (default: one micro-batch a rank)", {1, std::int64_t{1} << 40});
  auto* const gpu = add_choice(app, "--gpu", cluster.gpu, "predicts a step on GPUs of this kind", by_name(gpu_specs()));
  auto* const snapshot = app.add_option("--memory-snapshot", memory_snapshot,
                                        "writes what lies where in a rank's memory, and when in a step (JSON)");
  auto* const search =
      app.add_flag("--search", searches, "proposes micro-batch, sharding and checkpointing that fit, fastest first")
          ->excludes(sequences, snapshot);
  for (CLI::Option* const of_gpus :
       {add_choice(app, "--network", cluster.network, "between nodes, for each GPU", by_name(network_specs())),
        add_number(app, "--gpus-per-node", cluster.gpus_per_node, "that NVLink connects", {1, 1024})
            ->capture_default_str(),
        search})
    of_gpus->needs(gpu);
}

int run_describe(const RecipeProgram& recipe, const DescribeOptions& options) {
  ScalingQuestion question = options.question;
  if (question.cluster.gpu == nullptr) question.cluster.gpu = gpu_here(recipe, question);
  const bool predicts = question.cluster.gpu != nullptr;
  check_global_batch_option(options, predicts);
  const MicroBatchChoice choice = micro_batch_of(recipe, options);
  question.micro_batch = choice.micro_batch;
  if (!options.searches) check_groups(recipe, question.ranks);
  predicts ? check(recipe.planned, question) : check_global_batch(question);
  if (options.searches) {
    show(describe_search(recipe.planned, question));
    return 0;
  }
  show(describe(recipe, question.ranks, question.micro_batch));
  if (!options.micro_batch) show(text_of(choice) + "\n");
  if (predicts) show(describe_scaling(recipe.planned, question));
  if (!options.memory_snapshot.empty()) {
    const PlannedRank rank{question.ranks, question.micro_batch};
    as_usage_error("--memory-snapshot",
                   [&] { write_text_file(options.memory_snapshot, memory_snapshot(recipe, rank)); });
    show(memory_by_phase(recipe, rank));
  }
  return 0;
}

}  // namespace monomorph::train
