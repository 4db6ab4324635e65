#include "train/scaling/device_memory.hpp"

#include <monomorph/device/cuda.hpp>

namespace monomorph::train {
namespace {

/// Adds what logits, their gradients and losses of a longer chunk of tokens take. Logits of the dtype of activations
/// lie among these, with their gradients in their place. Beside a teacher a chunk has its logits, too, and the metrics
/// of each token (TaughtSlices).
void resize_loss_chunk(const plan::PlannedRecipe& recipe, std::int64_t n_tokens, plan::Memory& memory) {
  const std::int64_t vocabulary = recipe.trunk->padded_vocab();
  const std::int64_t here = recipe.loss_chunk_tokens(n_tokens),
                     there = smaller_of(n_tokens, device::Cuda::loss_chunk_tokens(vocabulary));
  const DType statistic = statistics_dtype(recipe.compute_dtype);
  const auto elements = [&](std::int64_t tokens) { return align_up(tokens * vocabulary); };
  const std::int64_t more = elements(there) - elements(here);
  const std::int64_t logits = recipe.logits_dtype == statistic ? more : 0;
  memory.statistics += (logits + align_up(there) - align_up(here)) * size_of(statistic);
  if (recipe.teacher != nullptr)
    memory.statistics += (more + align_up(4 * there) - align_up(4 * here)) * size_of(statistic);
  if (statistic != recipe.compute_dtype) memory.activations += more * size_of(recipe.compute_dtype);
}

}  // namespace

plan::Memory memory_on_gpu(const plan::PlannedRecipe& recipe, const plan::Strategy& strategy, int ranks,
                           std::int64_t micro_batch) {
  plan::Memory memory = recipe.memory(strategy, ranks, micro_batch, 0);
  if (!memory.arena_on_host) return memory;  // built for a GPU
  memory.arena_on_host = false;
  if (recipe.makes_logits) resize_loss_chunk(recipe, micro_batch * recipe.trunk->context_length, memory);
  if (strategy.purpose == plan::Purpose::training)
    memory.optimizer_workspace = recipe.optimizer_workspace_elements(batch_scratch_elements<device::Cuda>()) *
                                 size_of(statistics_dtype(recipe.master_dtype));
  memory.host_staging = plan::host_staging_bytes;
  memory.device_workspace = recipe.most_of_layers(micro_batch, strategy.purpose, device_workspace_bytes<device::Cuda>);
  memory.device_context = device_context_bytes<device::Cuda>();
  memory.device_communication = device_communication_bytes<device::Cuda>(ranks);
  return memory;
}

std::int64_t bytes_on_gpu(const plan::Memory& memory) { return memory.total() - memory.in_main_memory(); }

bool fits(const plan::Memory& memory, const GpuSpec& gpu) {
  return static_cast<double>(bytes_on_gpu(memory)) <= usable_memory * static_cast<double>(gpu.memory_bytes);
}

}  // namespace monomorph::train
