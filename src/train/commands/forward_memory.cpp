#include "train/commands/forward_memory.hpp"

#include "train/describe/micro_batch_choice.hpp"
#include "train/describe/run_memory.hpp"
#include "train/run/ranks/connect_data_parallel.hpp"

#include <fmt/format.h>

namespace monomorph::train {
namespace {

/// Of what a device has it is known what is free; why a system gives less main memory than it has, is not.
std::string advice(const Error& refusal, const std::optional<LowerableNumber>& number) {
  if (refusal.id() == "GPU-05") {
    const auto change = number ? fitting_change(*number) : std::nullopt;
    return change.value_or("take a smaller model, or a GPU with more memory");
  }
  if (number) return fmt::format("lower {}, or take a machine with more memory", number->name);
  return "take a machine with more memory, or raise the limit that this program runs under";
}

}  // namespace

ForwardMemory forward_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch) {
  return {.plan = inference_memory(recipe, ranks, micro_batch)};
}

ForwardMemory micro_batch_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch) {
  ForwardMemory memory = forward_memory(recipe, ranks, micro_batch);
  memory.number = {.name = "--micro-batch", .given = micro_batch, .fits = [&recipe, ranks](std::int64_t tried) {
                     return inference_memory(recipe, ranks, tried).budgeted() <= free_device_memory(recipe);
                   }};
  return memory;
}

UsageError with_memory_advice(const UsageError& refusal, const ForwardMemory& memory) {
  return {refusal.id(),
          fmt::format("{}; {}{}; {}", refusal.text(), largest_parts(memory.plan),
                      memory.beside.empty() ? "" : ", beside " + memory.beside, advice(refusal, memory.number))};
}

Owned<Communicator> connect_for_command(const RecipeProgram& recipe, const World& world) {
  if (world.size() == 1) return one_rank();
  return advised_on_memory(forward_memory(recipe, world.size(), 1),
                           [&](bool&) { return connect_data_parallel(recipe, world); });
}

}  // namespace monomorph::train
