#pragma once
#include "train/describe/memory_advice.hpp"
#include "train/run/fitting_step.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <optional>
#include <string>

/// What commands say that train nothing where a device, or the host, refuses them memory.
namespace monomorph::train {

/// The memory that such a command asks for.
struct ForwardMemory {
  plan::Memory plan;                        ///< of a rank
  std::string beside{};                     ///< what it needs behind the plan: "a cache of 512 tokens"; may be empty
  std::optional<LowerableNumber> number{};  ///< by which its user asks for less
};

/// Of a model that goes forward over so many sequences at a time.   @param micro_batch as of inference_memory
ForwardMemory forward_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch);
/// The same where --micro-batch says how many.   @param recipe outlives what is returned
ForwardMemory micro_batch_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch);

/// The refusal with the plan's largest parts and what to do about it. What the command has taken must be free again.
UsageError with_memory_advice(const UsageError& refusal, const ForwardMemory& memory);

/// Calls act(begun), which sets `begun` when all is there that can be refused before it computes.
/// @param advise says of a refusal what to do about it
/// @throws UsageError memory is refused before, and Error with the same text behind it; what act throws
template <class Advise, class Act> auto advised_on_memory(Advise advise, Act act) {
  bool begun = false;
  try {
    return act(begun);
  } catch (const UsageError& refusal) {
    if (!is_refused_memory(refusal)) throw;
    const UsageError advised = advise(refusal);
    if (begun) throw Error(advised.id(), advised.text());
    throw advised;
  }
}
template <class Act> auto advised_on_memory(const ForwardMemory& memory, Act act) {
  return advised_on_memory([&](const UsageError& refusal) { return with_memory_advice(refusal, memory); }, act);
}

/// The ranks of a command that trains nothing, of which there may be one.   @throws as connect_data_parallel
Owned<Communicator> connect_for_command(const RecipeProgram& recipe, const World& world);

}  // namespace monomorph::train
