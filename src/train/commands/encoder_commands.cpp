#include "train/commands/encoder_commands.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/forward_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/inference/embedder.hpp>
#include <monomorph/train/inference/retrieval.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

void check_is_encoder(const RecipeProgram& recipe, std::string_view command) {
  if (recipe.output != ModelOutput::embeddings)
    throw UsageError(
        "RUN-26",
        fmt::format(
            "{} must have a checkpoint of a model that makes embeddings, and {} makes no embeddings; take one of a "
            "recipe whose model does, such as an EncoderSpec",
            command, recipe.name));
}

std::string line_of(std::string_view what, const RetrievalScores& scores) {
  return fmt::format("  {:<34}{:>9.4f}{:>11.4f}{:>9.4f}\n", what, scores.recall_at_1, scores.recall_at_10,
                     scores.mean_reciprocal_rank);
}

/// A line of JSON for each line.
void embed_lines(std::istream& lines, Embedder& embedder) {
  std::vector<std::string> texts;
  const auto embed = [&] {
    const std::vector<std::vector<float>> embeddings = embedder.embed(texts);
    std::string written;
    for (std::size_t i = 0; i < texts.size(); ++i)
      written += nlohmann::ordered_json{{"text", texts[i]}, {"embedding", embeddings[i]}}.dump(
                     -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                 "\n";
    show(written);
    texts.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    texts.push_back(std::move(line));
    if (std::ssize(texts) == Embedder::texts_at_once) embed();
  }
  embed();
}

}  // namespace

void RetrieveOptions::add_to(CLI::App& app) {
  HeldOutOptions::add_to(app, "set of pairs", "samples");
  app.add_flag("--bag-of-words", bag_of_words, "also ranks by the tokens that texts share, weighted by TF-IDF");
}

int run_retrieve(const RecipeProgram& recipe, const RetrieveOptions& options) {
  check_is_encoder(recipe, "retrieve");
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  const Hparams hparams = checkpoint_hparams(checkpoint, recipe);
  const HeldOutSets sets = options.sets(recipe, hparams);
  const std::int64_t micro_batch = options.micro_batch_or(hparams);
  const auto communicator = one_rank();
  return advised_on_memory(micro_batch_memory(recipe, 1, micro_batch), [&](bool& begun) {
    const auto model = restored_model(recipe, checkpoint, micro_batch, hparams.loss.policy, *communicator);
    begun = true;
    for (const auto& [name, loader] : sets) {
      const PairEmbeddings pairs = embed_pairs(*model, loader, micro_batch, recipe.texts_per_sample);
      std::string text = name.empty() ? "" : name + ":\n";
      text += fmt::format("{} pairs{:>31}{:>11}{:>9}\n", pairs.count(), "recall@1", "recall@10", "MRR");
      text += line_of("embeddings", retrieval_scores(pairs));
      if (options.bag_of_words) text += line_of("bag of words (TF-IDF)", bag_of_words_scores(loader, micro_batch));
      show(text + line_of("chance", chance_scores(pairs.count())));
    }
    return 0;
  });
}

void EmbedOptions::add_to(CLI::App& app) {
  CheckpointOptions::add_to(app);
  app.add_option("--input", input, "file of texts, one a line; - for standard input")->capture_default_str();
}

int run_embed(const RecipeProgram& recipe, const EmbedOptions& options) {
  check_is_encoder(recipe, "embed");
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  const Hparams hparams = checkpoint_hparams(checkpoint, recipe);
  const RunTokenizer loaded = options.required_tokenizer(checkpoint, hparams, recipe);
  std::ifstream file;
  if (options.input != "-") {
    file.open(options.input);
    if (!file) as_usage_error("--input", [&] { throw_file_error("open", options.input, errno); });
  }
  std::istream& lines = options.input == "-" ? std::cin : file;
  const auto communicator = one_rank();
  return advised_on_memory(forward_memory(recipe, 1, Embedder::texts_at_once), [&](bool& begun) {
    const auto model = restored_model(recipe, checkpoint, Embedder::texts_at_once, hparams.loss.policy, *communicator);
    begun = true;
    Embedder embedder(*model, *loaded.tokenizer, recipe.model->context_length, recipe.texts_per_sample);
    write_note(loaded.note);
    embed_lines(lines, embedder);
    return 0;
  });
}

}  // namespace monomorph::train
