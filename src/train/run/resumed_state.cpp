#include "train/run/resumed_state.hpp"

#include "train/run/resume.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/step/loss_scale.hpp"

#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

namespace monomorph::train {

std::optional<RunState> resumed_state(const std::string& checkpoint, const RecipeProgram& recipe,
                                      const Hparams& hparams, TrainingStep& step, Communicator& communicator,
                                      OnDamage on_damage) {
  std::optional<RestoredRun> restored;
  together(communicator, "load the checkpoint", [&] {
    try {
      restored = restore_run(checkpoint, recipe, step, true, best_counter(recipe, hparams));
    } catch (const runtime::DamagedCheckpoint& damage) {
      if (on_damage == OnDamage::fail) throw;
      write_error_line(std::string("warning: ") + damage.what());
      forget_truncated(checkpoint);  // pages that its disk does not give are damage, too
    }
  });
  if (any_rank(communicator, !restored)) return std::nullopt;
  if (!restored->same_precision) {  // another compute dtype needs another scale
    restored->state.loss_scale = initial_loss_scale(recipe.compute_dtype, hparams.loss_scale);
    restored->state.steps_at_scale = 0;
    restored->state.teacher = 0;  // what is known of it is of numbers that were rounded otherwise
  }
  return restored->state;
}

std::optional<EarlierCheckpoint> load_earlier(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                                              TrainingStep& step, Communicator& communicator, std::int64_t samples) {
  std::optional<std::string> damaged;
  for (;;) {
    const auto path = together(communicator, "find a checkpoint to go back to",
                               [&] { return latest_together(hparams, world, samples, damaged); });
    if (!path) return std::nullopt;
    if (const auto state = resumed_state(*path, recipe, hparams, step, communicator, OnDamage::warn))
      return EarlierCheckpoint{*path, *state};
    damaged = path;
  }
}

}  // namespace monomorph::train
