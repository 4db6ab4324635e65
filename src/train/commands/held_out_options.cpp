#include "train/commands/held_out_options.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace monomorph::train {
namespace {

/// "NAME=FILE", or a file alone, whose name may have a "=" behind something that is no name, as in "./a=b.pbin".
NamedPath named_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !is_set_name(text.substr(0, equals))) return {.name = {}, .path = text};
  return {.name = text.substr(0, equals), .path = text.substr(equals + 1)};
}

NamedPaths named_paths(const std::vector<std::string>& texts) {
  NamedPaths paths;
  for (const std::string& text : texts) {
    NamedPath next = named_path(text);
    const bool is_taken = std::ranges::find(paths, next.name, &NamedPath::name) != paths.end();
    if (is_taken || (texts.size() > 1 && next.name.empty()))
      throw UsageError("EVAL-01", fmt::format("several sets must each have a name of their own, and {} has {}; write "
                                              "--data NAME=FILE, with a name of letters, digits, dots, hyphens and "
                                              "underscores",
                                              in_quotes(text), next.name.empty() ? "none" : "that of another"));
    paths.push_back(std::move(next));
  }
  return paths;
}

}  // namespace

void HeldOutOptions::add_to(CLI::App& app, const std::string& data_help, const std::string& unit) {
  CheckpointOptions::add_to(app);
  app.add_option("--data", data,
                 data_help + ", or NAME=FILE, again for more; the run's data.evaluation if it is not given")
      ->allow_extra_args(false);
  add_number(app, "--micro-batch", micro_batch, unit + " at a time (as in the run if it is not given)", {1, 1 << 20});
}

HeldOutSets HeldOutOptions::sets(const RecipeProgram& recipe, const Hparams& hparams) const {
  const NamedPaths& paths = data.empty() ? hparams.data.evaluation.value : named_paths(data);
  if (paths.empty())
    throw UsageError("RUN-12", "the run of this checkpoint had no data.evaluation; give --data <file.pbin>");
  return open_held_out_sets(recipe, hparams.loss.policy, paths, data.empty() ? "data.evaluation" : "--data");
}

std::int64_t HeldOutOptions::micro_batch_or(const Hparams& hparams) const {
  return micro_batch.value_or(micro_batch_of(hparams));
}

}  // namespace monomorph::train
