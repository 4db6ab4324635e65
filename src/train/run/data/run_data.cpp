#include "train/run/data/run_data.hpp"

#include "core/as_usage_error.hpp"
#include "core/json_text.hpp"
#include "train/run/data/packed_template.hpp"
#include "train/run/data/run_tokenizer.hpp"
#include "train/weights/companion_files.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/reference_scores.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace monomorph::train {
namespace {

data::Loader train_loader(const RecipeProgram& recipe, const Hparams& hparams) {
  return as_usage_error("data.train", [&] {
    return data::Loader(hparams.data.train.value, {.sequence_length = recipe.model->context_length,
                                                   .vocab_size = recipe.model->vocab_size,
                                                   .seed = static_cast<std::uint64_t>(hparams.run.seed.value),
                                                   .shuffle = hparams.data.shuffle,
                                                   .last_target = hparams.data.last_target,
                                                   .weight_by = hparams.data.weight_by,
                                                   .contents = batch_contents(recipe, hparams.loss.policy)});
  });
}

/// All that a run has drawn when it ends.
std::int64_t samples_at_end(const RunState& from, const Hparams& hparams) {
  const std::int64_t steps_left = std::max<std::int64_t>(hparams.run.steps.value - from.step, 0);
  return from.samples + steps_left * hparams.batch.global_batch;
}

void check_epochs_of(const data::Loader& loader, std::int64_t samples, const Hparams& hparams) {
  const OptionalCount& most = hparams.data.max_epochs.value;
  if (!most) return;
  const std::vector<std::int64_t> needed = loader.samples_by_set(samples);
  for (std::size_t i = 0; i < loader.n_sets(); ++i) {
    const data::TokenDataset& set = loader.set(i);
    const double epochs = static_cast<double>(needed[i]) / static_cast<double>(set.n_samples());
    if (needed[i] / set.n_samples() < *most || needed[i] == *most * set.n_samples()) continue;
    throw UsageError(
        "DATA-60",
        fmt::format("{} has {} samples of {} tokens, and the run takes {} of them, {:.2f} epochs, where "
                    "data.max_epochs = {}; give more data, less run.steps, or raise data.max_epochs (data.train)",
                    in_quotes(set.file().path()), set.n_samples(), set.sequence_length(), needed[i], epochs, *most));
  }
}

TrainFiles hashes(const data::Loader& loader) {
  TrainFiles files;
  for (std::size_t i = 0; i < loader.n_sets(); ++i) {
    const std::string& path = loader.set(i).file().path();
    if (!is_utf8(path)) continue;  // a checkpoint's metadata can't name it
    files[path] = static_cast<std::int64_t>(loader.set(i).tokens_hash());
  }
  return files;
}

/// The scores that the loader has read, as the loss depends on them in every step.
TrainFiles hashes_of_scores(const data::Loader& loader) {
  TrainFiles files;
  for (std::size_t i = 0; i < loader.n_sets(); ++i) {
    const std::string path = data::reference_scores_path(loader.set(i).file().path());
    if (is_utf8(path)) files[path] = static_cast<std::int64_t>(xxh64(MappedFile(path).bytes()));
  }
  return files;
}

[[noreturn]] void refuse_other_tokens(const std::string& path, const std::string& checkpoint) {
  throw UsageError("DATA-61",
                   fmt::format("{} has other tokens than when {} was saved, so the run would go on in another order; "
                               "restore the file, or give what is new a name of its own (data.train)",
                               in_quotes(path), in_quotes(checkpoint)));
}

[[noreturn]] void refuse_other_scores(const std::string& path, const std::string& checkpoint) {
  throw UsageError("PREF-13",
                   fmt::format("{} has other scores than when {} was saved, so the run would go on beside another "
                               "reference; restore the file, make it again with the recipe's command reference and the "
                               "weights.from that the run began with, or start another run in another run.output_dir "
                               "(data.train)",
                               in_quotes(path), in_quotes(checkpoint)));
}

void check_tokenizer(const data::Loader& loader, std::size_t n_ids) {
  for (std::size_t i = 0; i < loader.n_sets(); ++i) {
    const data::TokenDataset& set = loader.set(i);
    const std::uint32_t width = set.file().bytes_per_token();
    if (width < data::bytes_per_token_for(static_cast<std::int64_t>(n_ids)))
      throw UsageError(
          "DATA-63",
          fmt::format("{} has {} byte{} a token, too few for the {} ids of the tokeniser; give the tokeniser "
                      "that the data was packed with (data.train)",
                      in_quotes(set.file().path()), width, width == 1 ? "" : "s", n_ids));
    if (static_cast<std::size_t>(set.largest_id()) < n_ids) continue;
    throw UsageError(
        "DATA-63",
        fmt::format("{} has the token id {}, and the tokeniser's end at {}; give the tokeniser that the data "
                    "was packed with (data.train)",
                    in_quotes(set.file().path()), set.largest_id(), n_ids - 1));
  }
}

void check_mask(const data::TokenDataset& set, const data::Tokenizer& tokenizer, const Hparams& hparams,
                const std::string& field) {
  if (!set.loss_mask()) return;
  as_usage_error(field,
                 [&] { set.loss_mask()->check_tokenizer(tokenizer.definition(), hparams.data.tokenizer.value); });
}

}  // namespace

data::BatchContents batch_contents(const RecipeProgram& recipe, const PolicyHparams& objective) {
  data::BatchContents contents{.document_starts = recipe.wants_document_starts};
  if (recipe.predicts_next_token)
    contents.prefix = recipe.prefix_tokens;
  else
    contents.target = data::TargetToken::itself;
  contents.texts_per_sample = recipe.texts_per_sample;
  contents.sequences_per_sample = recipe.sequences_per_sample;
  contents.reference_scores = recipe.sequences_per_sample > 0;
  if (recipe.prepare)
    contents.prepare = [prepare = recipe.prepare, objective](const Sample& sample) { prepare(sample, objective); };
  return contents;
}

RunData::RunData(const RecipeProgram& recipe, const Hparams& hparams) : train(train_loader(recipe, hparams)) {
  described.files = train_files = hashes(train);
  if (recipe.sequences_per_sample > 0) train_files.merge(hashes_of_scores(train));
  const NamedPaths& paths = hparams.data.evaluation.value;
  held_out = open_held_out_sets(recipe, hparams.loss.policy, paths, "data.evaluation");
  for (std::size_t i = 0; i < paths.size(); ++i)
    described.files[paths[i].path] = static_cast<std::int64_t>(held_out[i].loader.tokens_hash());
  PackedTemplate packed = packed_template(train, hparams.data.tokenizer.value);
  described.chat_template = std::move(packed.jinja);
  if (!packed.note.empty()) notes.push_back(std::move(packed.note));
  const std::string& tokenizer_file = hparams.data.tokenizer.value;
  if (tokenizer_file.empty()) return;
  auto whole = as_usage_error("the tokeniser", [&] { return data::read_tokenizer(tokenizer_file); });
  for (std::size_t i = 0; i < train.n_sets(); ++i) check_mask(train.set(i), *whole, hparams, "data.train");
  for (const auto& [name, loader] : held_out)
    check_mask(loader.set(), *whole, hparams, field_of_set("data.evaluation", name));
  if (std::string note = note_tokens_left_out(*whole, tokenizer_file, recipe); !note.empty())
    notes.push_back(std::move(note));
  const auto tokenizer = within_vocabulary(std::move(whole), tokenizer_file, recipe);
  // The run's folder takes these over; here all ranks are told what can't be read.
  as_usage_error("data.tokenizer", [&] { return companions_of_tokenizer(tokenizer_file); });
  bytes_per_token = data::token_byte_lengths(*tokenizer);
  check_tokenizer(train, bytes_per_token.size());
  for (const auto& [name, loader] : held_out) check_ids(loader, bytes_per_token);
  if (!recipe.objective.over_tokens || !recipe.predicts_next_token) bytes_per_token.clear();
}

void RunData::check_same_files(const std::string& checkpoint) const {
  for (const auto& [path, hash] : checkpoint_train_files(checkpoint)) {
    const auto found = train_files.find(path);
    if (found == train_files.end() || found->second == hash) continue;
    if (described.files.contains(path)) refuse_other_tokens(path, checkpoint);
    refuse_other_scores(path, checkpoint);
  }
}

void RunData::check_epochs(const RunState& from, const Hparams& hparams) const {
  check_epochs_of(train, samples_at_end(from, hparams), hparams);
}

std::string RunData::describe_sets(std::int64_t n) const {
  std::string text;
  const std::vector<std::int64_t> samples = train.samples_by_set(n);
  for (std::size_t i = 0; i < train.n_sets(); ++i) {
    const data::TokenDataset& set = train.set(i);
    text += fmt::format("  {:.2f} epochs of {} tokens",
                        static_cast<double>(samples[i]) / static_cast<double>(set.n_samples()), set.n_tokens());
    if (train.n_sets() > 1)
      text += fmt::format(", {:.4g} % of the samples: {}", 100 * train.share(i), in_quotes(set.file().path()));
    text += "\n";
  }
  return text;
}

}  // namespace monomorph::train
