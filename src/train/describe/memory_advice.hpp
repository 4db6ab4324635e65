#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// Whether a rank's plan with such a micro-batch would fit where another did not.
using FitsMemory = std::function<bool(const plan::Memory& memory, std::int64_t micro_batch)>;

/// What to say behind a message that memory is not there: the three largest parts of the plan, and of the changes that
/// would fit the one that costs least. A smaller micro-batch comes first, as it needs no other program; then those of
/// PLAN-02 in its order.
std::string memory_advice(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const FitsMemory& fits);

/// Its first half: "the largest parts of the plan are activations with 1.50 GiB, ...".
std::string largest_parts(const plan::Memory& memory);

/// A number by which a user asks for memory, such as the sequences of a micro-batch.
struct LowerableNumber {
  std::string_view name;                         ///< by which the user says it
  std::int64_t given, least = 1, unit = 1;       ///< it is `least`, or more by a multiple of `unit`
  std::function<bool(std::int64_t tried)> fits;  ///< if it does, smaller ones do, too
};
/// "change --micro-batch to 8, which fits", the largest smaller number that does; absent if none does.
std::optional<std::string> fitting_change(const LowerableNumber& number);

}  // namespace monomorph::train
