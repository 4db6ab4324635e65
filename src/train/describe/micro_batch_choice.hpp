#pragma once
#include <monomorph/core/machine_memory.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>

/// The number that stands for batch.micro_batch = "auto". The global batch stays as it is.
namespace monomorph::train {

/// What a run may fill as things are now.
struct FreeMemory {
  std::int64_t main = MachineMemory::unknown;  ///< of the machine, whose ranks share it
  std::optional<std::int64_t> device{};  ///< of each rank's device; absent where it has no memory of its own, or there
                                         ///< is no such device
};
/// Of this machine, and of this rank's device.   @throws UsageError [GPU-03] the program's device is not there
FreeMemory free_memory(const RecipeProgram& recipe);
/// The same where a device that is not there leaves its memory unknown: of commands that do not compute.
FreeMemory free_memory_if_known(const RecipeProgram& recipe);
/// What is free on this rank's device behind a refusal; 0 where it has not the memory to say so.
std::int64_t free_device_memory(const RecipeProgram& recipe);

/// The largest micro-batch up to `most` that so many ranks can share the global batch by, and of which
/// fits(micro_batch) holds; 1 if none fits.
std::int64_t largest_fitting(std::int64_t global_batch, std::int64_t ranks, std::int64_t most, auto&& fits) {
  const auto divisor = [&](std::int64_t bound) { return largest_micro_batch(global_batch, ranks, bound).value_or(1); };
  std::int64_t micro_batch = divisor(most);
  while (micro_batch > 1 && !fits(micro_batch)) micro_batch = divisor(micro_batch - 1);
  return micro_batch;
}

/// The share of the free main memory that a run with "auto" plans to fill: other programs go on growing.
inline constexpr double usable_main_memory = 0.9;

struct MicroBatchChoice {
  std::int64_t micro_batch = 1;
  std::string reason;       ///< "the most that divide a rank's 64 sequences, up to 8"
  bool may_shrink = false;  ///< nothing but memory forbids a smaller one
};

/// @param hparams whose micro-batch is "auto", and which so many ranks can share otherwise
/// @param of_checkpoint that of the run that is resumed, whose bits depend on it
MicroBatchChoice choose_micro_batch(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                                    const FreeMemory& memory, std::optional<std::int64_t> of_checkpoint = std::nullopt);

/// The line that says what was chosen.
std::string text_of(const MicroBatchChoice& choice);

}  // namespace monomorph::train
