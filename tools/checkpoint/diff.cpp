#include "commands.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/train/checkpoints/compare.hpp>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <memory>

namespace monomorph::tools {
namespace {

struct Diff {
  std::string first, second;
};

std::string kind_of(const runtime::CheckpointReader& checkpoint, const std::string& name) {
  const auto& tensor = *checkpoint.find(name);
  return fmt::format("{} [{}]", name_of(tensor.dtype), fmt::join(tensor.shape, ", "));
}

/// The place of an element in its tensor: "3, 0, 17".
std::string place_text(std::int64_t element, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) place[d] = element % shape[d];
  return fmt::format("{}", fmt::join(place, ", "));
}

void say_difference(const train::TensorDifference& difference, const runtime::CheckpointReader& first) {
  const auto& tensor = *first.find(difference.name);
  std::string nan;
  if (difference.n_nan_in_one > 0) nan = fmt::format(", {} are NaN in one alone", difference.n_nan_in_one);
  say("differs   {}: {} of {} elements, the largest difference is {} at [{}], the largest relative one {}{}\n",
      difference.name, difference.n_elements, tensor.n_elements, difference.largest_absolute,
      place_text(difference.place_of_largest, tensor.shape), difference.largest_relative, nan);
}

bool say_differences(const Diff& diff) {
  runtime::CheckpointReader first(runtime::find_checkpoint(diff.first)), second(runtime::find_checkpoint(diff.second));
  const train::CheckpointComparison comparison = train::compare_checkpoints(first, second);
  throw_if_truncated();
  say("first     {}, after step {}\nsecond    {}, after step {}\n", first.path(), first.metadata().step, second.path(),
      second.metadata().step);
  for (const std::string& name : comparison.only_in_first) say("only in first   {}  {}\n", name, kind_of(first, name));
  for (const std::string& name : comparison.only_in_second)
    say("only in second  {}  {}\n", name, kind_of(second, name));
  for (const std::string& name : comparison.differently_shaped)
    say("other shape or dtype  {}: {} and {}\n", name, kind_of(first, name), kind_of(second, name));
  for (const train::TensorDifference& difference : comparison.different) say_difference(difference, first);
  say("{} tensors are equal in bits, {} differ, {} are of another shape or dtype, {} are in the first alone, {} in the "
      "second\n",
      comparison.n_equal, comparison.different.size(), comparison.differently_shaped.size(),
      comparison.only_in_first.size(), comparison.only_in_second.size());
  return !comparison.equal();
}

}  // namespace

/// Exit codes as those of the system's diff: what keeps it from comparing must not look like a difference.
void add_diff(CLI::App& program, int& exit_code) {
  const auto diff = std::make_shared<Diff>();
  CLI::App* const command = program.add_subcommand(
      "diff", "Compare the tensors of two checkpoints; exit code 0 if all are equal in bits, 1 if not, 2 for trouble");
  const std::string what = "A checkpoint, a folder of them or a run folder: then the latest one";
  command->add_option("A", diff->first, what)->required();
  command->add_option("B", diff->second, what)->required();
  command->callback([diff, &exit_code] {
    try {
      exit_code = say_differences(*diff) ? 1 : 0;
    } catch (const Error& trouble) {
      throw UsageError(trouble.id(), trouble.text());
    }
  });
}

}  // namespace monomorph::tools
