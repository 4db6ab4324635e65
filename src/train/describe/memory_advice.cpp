#include "train/describe/memory_advice.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/micro_batch_choice.hpp"
#include "train/describe/recompute_choices.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/plan/memory_changes.hpp>
#include <monomorph/rule/budget_rule.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {
namespace {

using rule::MemoryPart;

std::string_view name_of(MemoryPart part) {
  switch (part) {
    case MemoryPart::parameters:
      return "parameters of the optimizer";
    case MemoryPart::compute_parameters:
      return "parameters of compute";
    case MemoryPart::gathered_parameters:
      return "gathered parameters";
    case MemoryPart::gradients:
      return "gradients";
    case MemoryPart::gathered_gradients:
      return "gradients before reduction";
    case MemoryPart::gradient_tree:
      return "partial sums of gradients";
    case MemoryPart::optimizer_state:
      return "optimizer state";
    case MemoryPart::optimizer_workspace:
      return "optimizer workspace";
    case MemoryPart::activations:
      return "activations";
    case MemoryPart::statistics:
      return "statistics and logits";
    case MemoryPart::rotary:
      return "rotary tables";
    case MemoryPart::scalars:
      return "numbers of a step";
    case MemoryPart::teacher:
      return "teacher";
    case MemoryPart::host_teacher:
      return "parameters of the teacher on the host";
    case MemoryPart::host_parameters:
      return "parameters on the host";
    case MemoryPart::host_optimizer:
      return "masters and optimizer state on the host";
    case MemoryPart::host_activations:
      return "activations on the host";
    case MemoryPart::device_workspace:
      return "workspace of kernels";
    case MemoryPart::device_context:
      return "context of the driver";
    case MemoryPart::device_communication:
      return "collectives between devices";
    case MemoryPart::host_staging:
      return "copies for checkpoints";
    case MemoryPart::communication:
      return "gradients on their way";
  }
  return "";
}

std::string_view words_of(plan::PolicyChange change) {
#define MONOMORPH_WORDS(name, words) words,
  constexpr std::string_view words[]{"change nothing", MONOMORPH_MEMORY_CHANGES(MONOMORPH_WORDS)};
#undef MONOMORPH_WORDS
  return words[static_cast<int>(change)];
}

struct TriedChange {
  plan::PolicyChange policies{};
  Recompute choice{};  ///< of Selective

  std::string words() const {
    if (policies != plan::PolicyChange::selective) return std::string(words_of(policies));
    return fmt::format("change checkpointing to Selective<{}>", choices_text(choice));
  }
};

/// Changes of policies that can gain something, in the order of what they cost. Each but the last ones is tried alone
/// and with a smaller micro-batch.
std::vector<TriedChange> policy_changes(const RecipeProgram& recipe, int ranks) {
  std::vector<TriedChange> changes;
  for (const auto& [policies, smaller_micro_batch] : plan::memory_changes) {
    const bool is_new = std::none_of(changes.begin(), changes.end(), [policies = policies](const TriedChange& tried) {
      return tried.policies == policies;
    });
    if (policies == plan::PolicyChange::none || !is_new ||
        (plan::needs_own_memory(policies) && !recipe.has_own_memory()) || (plan::needs_ranks(policies) && ranks == 1))
      continue;
    if (policies == plan::PolicyChange::selective) {
      const plan::SelectiveChoices selective = selective_choices(recipe.planned);
      for (int i = 0; i < selective.n; ++i) changes.push_back({policies, selective.choices[i]});
    } else {
      changes.push_back({policies});
    }
  }
  return changes;
}

std::string change_of_number(std::string_view name, std::int64_t fitting) {
  return fmt::format("change {} to {}, which fits", name, fitting);
}

/// Finds what fits, for one run.
class ChangeSearch {
 public:
  ChangeSearch(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const FitsMemory& fits)
      : recipe_(recipe), hparams_(hparams), ranks_(ranks), fits_(fits) {}

  std::string cheapest() const {
    const std::int64_t given = micro_batch_of(hparams_);
    if (const auto smaller = fitting_micro_batch(recipe_.planned.strategy(ranks_)))
      return change_of_number("batch.micro_batch", *smaller);
    const std::vector<TriedChange> changes = policy_changes(recipe_, ranks_);
    for (const TriedChange& change : changes)
      if (fits(changed(change), given)) return fmt::format("{}, which fits", change.words());
    for (const TriedChange& change : changes)
      if (const auto smaller = fitting_micro_batch(changed(change)))
        return fmt::format("{}, and change batch.micro_batch to {}, which fit together", change.words(), *smaller);
    return "take a smaller recipe, more ranks or a larger machine: recomputation, sharding and a micro-batch of 1 "
           "would not fit";
  }

 private:
  plan::Strategy changed(const TriedChange& change) const {
    return plan::changed(recipe_.planned.strategy(ranks_), change.policies, ranks_, recompute_always(change.choice));
  }
  bool fits(const plan::Strategy& strategy, std::int64_t micro_batch) const {
    Hparams tried = hparams_;
    tried.batch.micro_batch.value = micro_batch;
    return fits_(recipe_.planned.memory(strategy, ranks_, micro_batch, tree_levels(tried, ranks_)), micro_batch);
  }
  /// Smaller than the given one; absent if none fits.
  std::optional<std::int64_t> fitting_micro_batch(const plan::Strategy& strategy) const {
    const std::int64_t given = micro_batch_of(hparams_);
    if (given == 1) return std::nullopt;
    const std::int64_t found = largest_fitting(hparams_.batch.global_batch, ranks_, given - 1,
                                               [&](std::int64_t micro_batch) { return fits(strategy, micro_batch); });
    return fits(strategy, found) ? std::optional(found) : std::nullopt;
  }

  const RecipeProgram& recipe_;
  const Hparams& hparams_;
  int ranks_;
  const FitsMemory& fits_;
};

}  // namespace

std::string largest_parts(const plan::Memory& memory) {
  std::vector<std::string> parts;
  for (const int n : {0, 1, 2})
    if (const auto [which, bytes] = rule::largest_part(memory, n); bytes > 0)
      parts.push_back(fmt::format("{} with {}", name_of(which), format_bytes(bytes)));
  if (parts.size() < 2) return "the largest part of the plan is " + fmt::to_string(fmt::join(parts, ""));
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return fmt::format("the largest parts of the plan are {} and {}", fmt::join(parts, ", "), last);
}

std::optional<std::string> fitting_change(const LowerableNumber& number) {
  const auto number_of = [&](std::int64_t step) { return number.least + step * number.unit; };
  // From the first step, which fits, to the last one that is known not to.
  std::int64_t low = 0, high = (number.given - number.least + number.unit - 1) / number.unit;
  if (high <= 0 || !number.fits(number.least)) return std::nullopt;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (number.fits(number_of(middle)) ? low : high) = middle;
  }
  return change_of_number(number.name, number_of(low));
}

std::string memory_advice(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const FitsMemory& fits) {
  return fmt::format("{}; {}",
                     largest_parts(recipe.memory(ranks, micro_batch_of(hparams), tree_levels(hparams, ranks))),
                     ChangeSearch(recipe, hparams, ranks, fits).cheapest());
}

}  // namespace monomorph::train
