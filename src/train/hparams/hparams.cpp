#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <set>

template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::optim::AdamW::Hparams>();
template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::objective::NextToken::Hparams>();
template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::NoHparams>();
template const monomorph::optim::AdamW::Hparams& monomorph::PolicyHparams::as() const;
template const monomorph::objective::NextToken::Hparams& monomorph::PolicyHparams::as() const;

namespace monomorph::train {
namespace {

/// A hyperparameter file that cannot be read is wrong usage: nothing has been started.
std::string read_hparams_file(const std::string& file) {
  constexpr std::size_t max_bytes = 1u << 20;
  try {
    return read_text_file(file, max_bytes);
  } catch (const Error& error) {
    throw UsageError(error.id(), error.text());
  }
}

void check_named(const WeightedPaths& train) {
  if (train.empty())
    throw UsageError("HPARAM-10",
                     "data.train must name the packed training data; make it with monomorph-data pack and give "
                     "its path");
  for (const WeightedPath& file : train)
    if (file.path.empty())
      throw UsageError("HPARAM-10", "every file of data.train must have a name; give its path or remove it");
}

void check_named_once(const WeightedPaths& train) {
  std::set<std::filesystem::path> seen;
  for (const WeightedPath& file : train) {
    std::error_code ignored;  // what can't be resolved is compared as it stands
    if (!file.path.empty() && !seen.insert(std::filesystem::weakly_canonical(file.path, ignored)).second)
      throw UsageError("HPARAM-17",
                       fmt::format("data.train must name {} once; remove one and add its weight to the other",
                                   in_quotes(file.path)));
  }
}

/// For fields in which an empty text has no meaning.
void check_not_empty(const char* name, const std::string& value, const char* what_to_do) {
  if (value.empty()) throw UsageError("HPARAM-19", fmt::format("{} must not be empty; {}", name, what_to_do));
}

/// The ranks' micro-batches are the lowest joints of the tree.
void check_reduction(const BatchHparams& batch, std::int64_t ranks) {
  if (batch.reduction.value != ReductionOrder::fixed_tree || std::has_single_bit(static_cast<std::uint64_t>(ranks)))
    return;
  throw UsageError(
      "HPARAM-18",
      fmt::format("batch.reduction = \"fixed_tree\" must have a power of two of data-parallel ranks, not {}; "
                  "take {} or {}, or \"any_order\"",
                  ranks, std::bit_floor(static_cast<std::uint64_t>(ranks)),
                  std::bit_ceil(static_cast<std::uint64_t>(ranks))));
}

/// As given; or, with a fixed tree, the same on any number of ranks, as it decides the bits.
std::int64_t chosen_micro_batch(const BatchHparams& batch, std::int64_t ranks) {
  if (batch.micro_batch.value) return *batch.micro_batch.value;
  if (batch.reduction.value == ReductionOrder::fixed_tree) return usual_micro_batch;
  return largest_micro_batch(batch.global_batch, ranks, usual_micro_batch).value_or(1);
}

void check_batch(const BatchHparams& batch, std::int64_t ranks) {
  const std::int64_t global_batch = batch.global_batch;
  const std::int64_t micro_batch = chosen_micro_batch(batch, ranks);
  const std::int64_t sequences = micro_batch * ranks;
  if (global_batch % sequences == 0) return;
  const auto fitting = largest_micro_batch(global_batch, ranks, micro_batch);
  const std::int64_t below = global_batch / sequences * sequences;
  throw UsageError(
      "HPARAM-11",
      fmt::format("batch.global_batch = {} must be a multiple of batch.micro_batch x data-parallel ranks = "
                  "{} x {} = {}; change {}batch.global_batch to {}{}",
                  global_batch, micro_batch, ranks, sequences,
                  fitting ? fmt::format("batch.micro_batch to {}, or ", *fitting) : "",
                  below > 0 ? fmt::format("{} or ", below) : "", below + sequences));
}

void check_evaluation(const Hparams& hparams) {
  if (!hparams.evaluation.every.value || !hparams.data.evaluation.value.empty()) return;
  throw UsageError("HPARAM-16",
                   fmt::format("data.evaluation must name packed held-out data, as evaluation.every = {}; give "
                               "its path or set evaluation.every to \"never\"",
                               *hparams.evaluation.every.value));
}

/// Names are part of those of metrics.
void check_set_names(const NamedPaths& sets) {
  for (const auto& [name, path] : sets) {
    if (path.empty())
      throw UsageError("HPARAM-20",
                       fmt::format("the set {} of data.evaluation must have a file; give its path, or remove the set",
                                   in_quotes(name)));
    if (sets.size() == 1 && name.empty()) continue;
    if (!is_set_name(name))
      throw UsageError(
          "HPARAM-20",
          fmt::format("a set of data.evaluation must have a name of 1 to {} letters, digits, dots, hyphens "
                      "and underscores, not {}; rename it",
                      longest_set_name, in_quotes(name)));
  }
}

void check_sets_differ(const NamedPaths& sets) {
  std::map<std::filesystem::path, std::string> names;
  for (const auto& [name, path] : sets) {
    std::error_code ignored;  // what can't be resolved is compared as it stands
    const auto [first, is_new] = names.emplace(std::filesystem::weakly_canonical(path, ignored), name);
    if (!is_new && !path.empty())
      throw UsageError("HPARAM-21", fmt::format("{} and {} of data.evaluation must not be the same file, {}; remove "
                                                "one of the two",
                                                in_quotes(first->second), in_quotes(name), in_quotes(path)));
  }
}

std::string names_of(const NamedPaths& sets) {
  std::vector<std::string> names;
  for (const NamedPath& set : sets) names.push_back(in_quotes(set.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_best_by(const Hparams& hparams) {
  const NamedPaths& sets = hparams.data.evaluation.value;
  const std::string& name = hparams.checkpoint.best_by.value;
  if (name.empty()) {
    if (hparams.checkpoint.keep_best.value && sets.size() > 1)
      throw UsageError("HPARAM-22", fmt::format("checkpoint.best_by must name the set that is meant by "
                                                "checkpoint.keep_best, as data.evaluation has several; give one of {}",
                                                names_of(sets)));
    return;
  }
  if (std::ranges::find(sets, name, &NamedPath::name) == sets.end())
    throw UsageError("HPARAM-22",
                     fmt::format("checkpoint.best_by = {} must be the name of a set of data.evaluation; {}",
                                 in_quotes(name),
                                 sets.empty() || sets[0].name.empty() ? "leave it out, or give the sets names"
                                                                      : "give one of " + names_of(sets)));
}

void set_hparams(Hparams& hparams, const std::vector<std::string>& sets, Mistakes& mistakes) {
  const std::vector<FieldRef> fields = fields_of(hparams);
  for (const std::string& assignment : sets) set_field(fields, assignment, mistakes);
}

}  // namespace

template <> ScheduleHparams ScheduleHparams::of<schedule::WarmupDecay>() { return made_of<schedule::WarmupDecay>(); }

Hparams default_hparams(const RecipeHparams& recipe) {
  Hparams hparams;
  hparams.optimizer.policy = recipe.optimizer;
  hparams.schedule = recipe.schedule;
  hparams.loss.policy = recipe.objective;
  hparams.observer.policy = recipe.observer;
  return hparams;
}

Hparams parse_hparams(const std::string& json, const std::string& where, const Hparams& defaults) {
  Hparams hparams = defaults;
  read_fields(fields_of(hparams), json, where);
  return hparams;
}

void set_hparams(Hparams& hparams, const std::vector<std::string>& sets) {
  Mistakes mistakes;
  set_hparams(hparams, sets, mistakes);
  mistakes.throw_if_any();
}

Hparams read_hparams(const std::string& file, const std::vector<std::string>& sets, Mistakes& mistakes,
                     const Hparams& defaults) {
  Hparams hparams = defaults;
  read_fields(fields_of(hparams), read_hparams_file(file), file, mistakes);
  set_hparams(hparams, sets, mistakes);
  return hparams;
}

Hparams read_hparams(const std::string& file, const std::vector<std::string>& sets, const Hparams& defaults) {
  Mistakes mistakes;
  Hparams hparams = read_hparams(file, sets, mistakes, defaults);
  mistakes.throw_if_any();
  return hparams;
}

bool is_set_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_set_name &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
             std::string_view::npos;
}

std::optional<std::int64_t> largest_micro_batch(std::int64_t global_batch, std::int64_t ranks, std::int64_t most) {
  if (global_batch % ranks != 0) return std::nullopt;
  std::int64_t micro_batch = std::min(most, global_batch / ranks);
  while (global_batch / ranks % micro_batch != 0) --micro_batch;
  return micro_batch;
}

void choose_micro_batch(Hparams& hparams, std::int64_t ranks) {
  hparams.batch.micro_batch.value = chosen_micro_batch(hparams.batch, ranks);
}

std::int64_t micro_batch_of(const Hparams& hparams) {
  return hparams.batch.micro_batch.value.value_or(usual_micro_batch);
}

std::string to_json(const Hparams& hparams) {
  Hparams copy = hparams;  // references to fields are for reading, too, and not const
  return fields_to_json(fields_of(copy));
}

std::string schema(const Hparams& defaults) {
  Hparams copy = defaults;
  return fields_to_schema(fields_of(copy), "Monomorph hyperparameters");
}

std::string hparams_table() {
  Hparams defaults;
  return fields_to_table(fields_of(defaults));
}

void validate(const Hparams& hparams, std::int64_t ranks, Mistakes& mistakes) {
  const std::int64_t steps = hparams.run.steps;
  const auto check_named_folder = [&](const char* name, const std::string& value, const char* what_to_do) {
    mistakes.check({name}, [&] { check_not_empty(name, value, what_to_do); });
  };
  check_named_folder("run.output_dir", hparams.run.output_dir.value, "name the folder that the run is to fill");
  mistakes.check({"data.train"}, [&] { check_named(hparams.data.train.value); });
  mistakes.check({"data.train"}, [&] { check_named_once(hparams.data.train.value); });
  mistakes.check({"batch.global_batch", "batch.micro_batch", ranks_field}, [&] { check_batch(hparams.batch, ranks); });
  mistakes.check({"batch.reduction", ranks_field}, [&] { check_reduction(hparams.batch, ranks); });
  hparams.schedule.validate(steps, mistakes);
  mistakes.check({"data.evaluation", "evaluation.every"}, [&] { check_evaluation(hparams); });
  mistakes.check({"data.evaluation"}, [&] { check_set_names(hparams.data.evaluation.value); });
  mistakes.check({"data.evaluation"}, [&] { check_sets_differ(hparams.data.evaluation.value); });
  mistakes.check({"data.evaluation", "checkpoint.best_by", "checkpoint.keep_best"}, [&] { check_best_by(hparams); });
  check_named_folder("checkpoint.directory", hparams.checkpoint.directory.value,
                     "name a folder, of which . is run.output_dir itself");
  check_named_folder("checkpoint.resume", hparams.checkpoint.resume.value, "write none, auto or a checkpoint's folder");
}

void validate(const Hparams& hparams, std::int64_t ranks) {
  Mistakes mistakes;
  validate(hparams, ranks, mistakes);
  mistakes.throw_if_any();
}

}  // namespace monomorph::train
