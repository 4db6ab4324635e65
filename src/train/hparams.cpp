#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/train/hparams.hpp>

#include <fmt/format.h>
#include <bit>

#include <filesystem>
#include <set>

namespace monomorph::train {
namespace {

/// A hyperparameter file that cannot be read is wrong usage: nothing has been started.
std::string read_hparams_file(const std::string& file) {
  constexpr std::size_t max_bytes = 1u << 20;
  try {
    return read_text_file(file, max_bytes);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void check_train(const WeightedPaths& train) {
  std::set<std::filesystem::path> seen;
  for (const WeightedPath& file : train) {
    if (file.path.empty())
      throw UsageError("[HPARAM-10] every file of data.train must have a name; give its path or remove it");
    std::error_code ignored;  // what can't be resolved is compared as it stands
    if (!seen.insert(std::filesystem::weakly_canonical(file.path, ignored)).second)
      throw UsageError(
          fmt::format("[HPARAM-17] data.train must name {} once; remove one and add its weight to the other",
                      in_quotes(file.path)));
  }
  if (train.empty())
    throw UsageError(
        "[HPARAM-10] data.train must name the packed training data; make it with monomorph-data pack and give "
        "its path");
}

/// The ranks' micro-batches are the lowest joints of the tree.
void check_reduction(const BatchHparams& batch, std::int64_t ranks) {
  if (batch.reduction.value != ReductionOrder::fixed_tree || std::has_single_bit(static_cast<std::uint64_t>(ranks)))
    return;
  throw UsageError(fmt::format(
      "[HPARAM-18] batch.reduction = \"fixed_tree\" must have a power of two of data-parallel ranks, not {}; "
      "take {} or {}, or \"any_order\"",
      ranks, std::bit_floor(static_cast<std::uint64_t>(ranks)), std::bit_ceil(static_cast<std::uint64_t>(ranks))));
}

void check_batch(const BatchHparams& batch, std::int64_t ranks) {
  const std::int64_t sequences = batch.micro_batch * ranks;
  if (batch.global_batch % sequences == 0) return;
  const std::int64_t below = batch.global_batch / sequences * sequences;
  throw UsageError(
      fmt::format("[HPARAM-11] batch.global_batch = {} must be a multiple of batch.micro_batch x data-parallel ranks = "
                  "{} x {} = {}; "
                  "change batch.global_batch to {}{}",
                  batch.global_batch.value, batch.micro_batch.value, ranks, sequences,
                  below > 0 ? fmt::format("{} or ", below) : "", below + sequences));
}

void check_schedule(const ScheduleHparams& schedule, std::int64_t steps) {
  const ScheduleKind kind = schedule.kind;
  const std::int64_t warmup_steps = schedule.warmup_steps;
  if (warmup_steps > steps) {
    throw UsageError(
        fmt::format("[HPARAM-12] schedule.warmup_steps = {} must be at most run.steps = {}; lower "
                    "schedule.warmup_steps",
                    warmup_steps, steps));
  }
  if (!schedule.decay_steps.value) {
    if (kind != ScheduleKind::wsd) return;
    throw UsageError(
        "[HPARAM-14] schedule.decay_steps must be a number with schedule.kind = \"wsd\"; give it, a tenth to "
        "a fifth of run.steps being usual");
  }
  const std::int64_t decay_steps = *schedule.decay_steps.value;
  if (kind == ScheduleKind::constant || kind == ScheduleKind::inverse_sqrt) {
    throw UsageError(
        fmt::format("[HPARAM-15] schedule.decay_steps = {} has no meaning with schedule.kind = \"{}\"; remove "
                    "it or change schedule.kind",
                    decay_steps, name_of(kind)));
  }
  if (warmup_steps + decay_steps > steps) {
    throw UsageError(
        fmt::format("[HPARAM-13] schedule.warmup_steps + schedule.decay_steps = {} + {} = {} must be at most "
                    "run.steps = {}; lower schedule.decay_steps",
                    warmup_steps, decay_steps, warmup_steps + decay_steps, steps));
  }
}

}  // namespace

Hparams parse_hparams(const std::string& json, const std::string& where) {
  Hparams hparams;
  read_fields(fields_of(hparams), json, where);
  return hparams;
}

void set_hparams(Hparams& hparams, const std::vector<std::string>& sets) {
  const std::vector<FieldRef> fields = fields_of(hparams);
  for (const std::string& assignment : sets) set_field(fields, assignment);
}

Hparams read_hparams(const std::string& file, const std::vector<std::string>& sets) {
  Hparams hparams = parse_hparams(read_hparams_file(file), file);
  set_hparams(hparams, sets);
  return hparams;
}

std::string to_json(const Hparams& hparams) {
  Hparams copy = hparams;  // references to fields are for reading, too, and not const
  return fields_to_json(fields_of(copy));
}

std::string schema() {
  Hparams defaults;
  return fields_to_schema(fields_of(defaults), "Monomorph hyperparameters");
}

std::string hparams_table() {
  Hparams defaults;
  return fields_to_table(fields_of(defaults));
}

void validate(const Hparams& hparams, std::int64_t ranks) {
  check_train(hparams.data.train.value);
  check_batch(hparams.batch, ranks);
  check_reduction(hparams.batch, ranks);
  check_schedule(hparams.schedule, hparams.run.steps);
  if (hparams.evaluation.every.value && hparams.data.evaluation.value.empty()) {
    throw UsageError(
        fmt::format("[HPARAM-16] data.evaluation must name packed held-out data, as evaluation.every = {}; give "
                    "its path or set evaluation.every to \"never\"",
                    *hparams.evaluation.every.value));
  }
}

}  // namespace monomorph::train
