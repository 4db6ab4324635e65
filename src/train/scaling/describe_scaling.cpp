#include "train/scaling/describe_scaling.hpp"

#include "train/describe/fact_text.hpp"
#include "train/scaling/device_memory.hpp"
#include "train/scaling/roof.hpp"
#include "train/scaling/search.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.{}f} ms", 1e3 * seconds, seconds < 0.01 ? 3 : 1); }
/// "12,345"
std::string rounded(double number) { return format_number(static_cast<std::int64_t>(std::llround(number))); }
std::string per_cent(double share) { return fmt::format("{:.1f} %", 1e2 * share); }

std::string cluster_text(const ScalingQuestion& question) {
  const Cluster& cluster = question.cluster;
  std::string text = fmt::format("{} x {}", question.ranks, cluster.gpu->name);
  if (question.ranks > cluster.gpus_per_node)
    text += fmt::format(", {} of them a node, {}", cluster.gpus_per_node, cluster.network->name);
  return text;
}

std::int64_t micro_batches(const ScalingQuestion& question, std::int64_t micro_batch) {
  return question.global_batch == 0 ? 1 : question.global_batch / (question.ranks * micro_batch);
}

PlannedRun own_run(const plan::PlannedRecipe& recipe, const ScalingQuestion& question) {
  return {question.cluster, question.ranks, question.micro_batch, micro_batches(question, question.micro_batch),
          recipe.strategy(question.ranks)};
}

std::string_view product_name(DType dtype) { return size_of(dtype) == 1 ? "fp8" : name_of(dtype); }

/// Of products in the dtype of those of the recipe's blocks, and in the others that the data sheet has.
std::string peak_text(const GpuSpec& gpu, DType products) {
  std::string others;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16})
    if (const double peak = peak_flops(gpu, dtype); dtype != products && peak > 0)
      others += fmt::format("{}{} {:.4g}", others.empty() ? "" : ", ", name_of(dtype), peak / 1e12);
  return fmt::format("{:.4g} TFLOP/s of products in {} ({})", peak_flops(gpu, products) / 1e12, product_name(products),
                     others);
}

void hardware(Text& text, const plan::PlannedRecipe& recipe, const PlannedRun& run) {
  const GpuSpec& gpu = *run.cluster.gpu;
  fact(text, "device", fmt::format("{}, by its data sheet", gpu.device));
  fact(text, "peak", peak_text(gpu, recipe.product_dtype));
  fact(text, "memory", fmt::format("{} at {:.4g} TB/s", format_bytes(gpu.memory_bytes), gpu.memory_bandwidth / 1e12));
  fact(text, "roof",
       fmt::format("{} a step, if products ran at the peak and all else at the bandwidth of memory and links",
                   milliseconds(roof_seconds(recipe, run))));
}

void prediction_facts(Text& text, const StepPrediction& p, const GpuSpec& gpu) {
  fact(text, "step", milliseconds(p.step_seconds));
  fact(text, "communication",
       fmt::format("{}, of which kernels wait for {}", milliseconds(p.communication_seconds),
                   milliseconds(p.exposed_seconds)));
  fact(text, "update", milliseconds(p.update_seconds));
  fact(text, "speed", fmt::format("{} tokens/s of a GPU", rounded(p.tokens_per_second)));
  fact(text, "MFU", fmt::format("{} (exact), {} (PaLM)", per_cent(p.mfu), per_cent(p.mfu_palm)));
  fact(text, "memory of a rank",
       fmt::format("{} of the GPU's {}{}", format_bytes(bytes_on_gpu(p.memory)), format_bytes(gpu.memory_bytes),
                   p.fits ? "" : ": DOES NOT FIT"));
  if (p.memory.host() > 0) fact(text, "", format_bytes(p.memory.host()) + " of the host's");
}

void strategy_table(Text& text, const plan::PlannedRecipe& recipe, const PlannedRun& own) {
  print(text, "  {:<24}{:>12}{:>12}{:>12}{:>9}{:>9}{:>13}\n", "sharding", "step", "exposed", "tokens/s", "MFU", "PaLM",
        "memory");
  PlannedRun run = own;
  for (const NamedSharding& sharding : sharding_strategies(run.ranks, run.cluster.gpus_per_node)) {
    run.strategy.sharding = sharding.values;
    const StepPrediction p = predict(recipe, run);
    print(text, "  {:<24}{:>12}{:>12}{:>12}{:>9}{:>9}{:>13}{}\n", sharding.name, milliseconds(p.step_seconds),
          milliseconds(p.exposed_seconds), rounded(p.tokens_per_second), per_cent(p.mfu), per_cent(p.mfu_palm),
          format_bytes(bytes_on_gpu(p.memory)), p.fits ? "" : "  does not fit");
  }
}

/// @throws UsageError [SCALE-05]
[[noreturn]] void throw_nothing_fits(const plan::PlannedRecipe& recipe, const ScalingQuestion& question) {
  const GpuSpec& gpu = *question.cluster.gpu;
  const SmallestPlan smallest = smallest_plan(recipe, question.cluster, question.ranks);
  const auto usable = static_cast<std::int64_t>(usable_memory * static_cast<double>(gpu.memory_bytes));
  throw UsageError(
      "SCALE-05",
      fmt::format("a rank must fit in {:.0f} % of the {} of {}, and in the smallest plan ({}, {}, micro-batch 1) takes "
                  "{}, which is {} too much; give more --ranks or a --gpu with more memory, or let the recipe have "
                  "shorter sequences or optim::HostState",
                  100 * usable_memory, format_bytes(gpu.memory_bytes), gpu.name, smallest.sharding.name,
                  smallest.checkpointing.name, format_bytes(smallest.bytes), format_bytes(smallest.bytes - usable)));
}

}  // namespace

void check_global_batch(const ScalingQuestion& question) {
  const std::int64_t sequences = question.ranks * question.micro_batch;
  if (question.global_batch % sequences == 0) return;
  throw UsageError("SCALE-04", fmt::format("--global-batch must be a multiple of ranks x --micro-batch = {} x {} = "
                                           "{}, and is {}; change one of the three",
                                           question.ranks, question.micro_batch, sequences, question.global_batch));
}

void check(const plan::PlannedRecipe& recipe, const ScalingQuestion& question) {
  const Cluster& cluster = question.cluster;
  const bool has_nodes = question.ranks > cluster.gpus_per_node;
  if (has_nodes && cluster.network == nullptr)
    throw UsageError("SCALE-01",
                     fmt::format("{} ranks, of which {} share a node, must have a network between nodes; name it with "
                                 "--network, or give --gpus-per-node",
                                 question.ranks, cluster.gpus_per_node));
  if (has_nodes && question.ranks % cluster.gpus_per_node != 0)
    throw UsageError("SCALE-02", fmt::format("ranks on several nodes must be a multiple of the {} GPUs of a node, and "
                                             "are {}; change --ranks or --gpus-per-node",
                                             cluster.gpus_per_node, question.ranks));
  if (peak_flops(*cluster.gpu, recipe.product_dtype) == 0)
    throw UsageError("SCALE-03", fmt::format("the data sheet of {} must have a rate of products in {}, in which the "
                                             "recipe computes; name another --gpu, or change the recipe's precision",
                                             cluster.gpu->name, product_name(recipe.product_dtype)));
  check_global_batch(question);
}

std::string describe_scaling(const plan::PlannedRecipe& recipe, const ScalingQuestion& question) {
  const PlannedRun run = own_run(recipe, question);
  Text text;
  print(text, "predicted on {} (micro-batch {}, {} a step)\n", cluster_text(question), run.micro_batch,
        run.micro_batches);
  hardware(text, recipe, run);
  prediction_facts(text, predict(recipe, run), *run.cluster.gpu);
  print(text, "the same with each sharding strategy\n");
  strategy_table(text, recipe, run);
  return fmt::to_string(text);
}

std::string describe_search(const plan::PlannedRecipe& recipe, const ScalingQuestion& question) {
  constexpr std::size_t most_shown = 10;
  const std::vector<Proposal> found = search(recipe, question.cluster, question.ranks, question.global_batch);
  if (found.empty()) throw_nothing_fits(recipe, question);
  Text text;
  print(text, "plans for {} that fit, best first: {} of {}\n", cluster_text(question),
        std::min(found.size(), most_shown), found.size());
  for (std::size_t i = 0; i < std::min(found.size(), most_shown); ++i) {
    const auto& [sharding, checkpointing, micro_batch, p] = found[i];
    print(text, "  {}. {} tokens/s of a GPU, step {}, exposed {}, MFU {} (PaLM {}), {}\n", i + 1,
          rounded(p.tokens_per_second), milliseconds(p.step_seconds), milliseconds(p.exposed_seconds), per_cent(p.mfu),
          per_cent(p.mfu_palm), format_bytes(bytes_on_gpu(p.memory)));
    print(text, "       using sharding = monomorph::sharding::{};\n", sharding.name);
    print(text, "       using checkpointing = monomorph::checkpointing::{};\n", checkpointing.name);
    print(text, "       --set batch.micro_batch={} --set batch.global_batch={}\n", micro_batch,
          micro_batch * micro_batches(question, micro_batch) * question.ranks);
  }
  return fmt::to_string(text);
}

}  // namespace monomorph::train
