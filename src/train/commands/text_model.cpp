#include "train/commands/text_model.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/forward_memory.hpp"
#include "train/describe/micro_batch_choice.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/chat/turn_end.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/inference/scoring.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace monomorph::train {
namespace {

/// Tokens of prompts that go through the model at once.
constexpr std::int64_t most_tokens_of_pass = 2048;

/// The model's own, which tells where texts end that nobody asks for by a chat.
std::optional<data::TemplateChoice> readable_template(const std::string& folder) {
  try {
    if (auto of_model = data::ModelTemplate::of_folder(folder)) return *std::move(of_model);
  } catch (const Error&) {
    // Commands that write chats say what is wrong with it.
  }
  return std::nullopt;
}

/// Whoever reads texts that are drawn otherwise than by default is to know why.
std::string line_of_makers(const GenerationOptions& options, SamplingChoices of_model) {
  if (options.greedy) of_model = {.repetition_penalty = of_model.repetition_penalty};
  const std::string said = text_of(options.sampling.unsaid_of(of_model));
  if (said.empty()) return "";
  return fmt::format("the model's generation_config.json says how tokens are chosen: {}", said);
}

/// Whether a session of such sizes can be made, and leaves what the plan has for the code of kernels.
bool has_memory_for(const LoadedModel& model, const PassSizes& sizes, std::int64_t context_bytes) {
  try {
    const auto pass = model.token_pass(sizes);
    return free_device_memory(model.recipe()) >= context_bytes;
  } catch (const UsageError& refusal) {
    if (!is_refused_memory(refusal)) throw;
    return false;
  }
}

/// How much a cache takes is known to the recipe's layers alone, so that a smaller one is tried.
ForwardMemory memory_of(const LoadedModel& model, const SessionRequest& request) {
  const std::int64_t cache_tokens = request.sizes.pages * PagedTokens::page;
  ForwardMemory memory = forward_memory(model.recipe(), 1, model.micro_batch());
  memory.beside = fmt::format("a cache of {} tokens", cache_tokens);
  if (!request.least_cache_tokens) return memory;
  memory.number = {.name = "--cache-tokens",
                   .given = cache_tokens,
                   .least = *request.least_cache_tokens,
                   .unit = PagedTokens::page,
                   .fits = [&model, sizes = request.sizes, context = memory.plan.device_context](std::int64_t tried) {
                     PassSizes smaller = sizes;
                     smaller.pages = pages_of(tried);
                     return has_memory_for(model, smaller, context);
                   }};
  return memory;
}

}  // namespace

LoadedModel::LoadedModel(const RecipeProgram& recipe, const std::string& checkpoint)
    : recipe_(recipe),
      communicator_(one_rank()),
      model_(advised_on_memory(forward_memory(recipe, 1, micro_batch()), [&](bool&) {
        return restored_model(recipe, checkpoint, micro_batch(), recipe.hparams.objective, *communicator_);
      })) {}

void check_predicts_next_token(const RecipeProgram& recipe) {
  if (recipe.predicts_next_token) return;
  throw UsageError(
      "RUN-25",
      fmt::format("only a model that predicts the next token can continue a prompt, and {} {}; take a checkpoint of "
                  "another recipe",
                  recipe.name,
                  recipe.output == ModelOutput::embeddings ? "makes embeddings of texts"
                                                           : "predicts tokens that its objective hides"));
}

TextModel load_text_model(const RecipeProgram& recipe, const GenerationOptions& options,
                          const ChatTemplateOption* chat_template) {
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  const Hparams hparams = checkpoint_hparams(checkpoint, recipe);
  TextModel model;
  RunTokenizer loaded = options.required_tokenizer(checkpoint, hparams, recipe);
  model.tokenizer = std::move(loaded.tokenizer);
  model.left_out = std::move(loaded.left_out);
  model.of_left_out = std::move(loaded.note);
  const auto folder = std::filesystem::path(options.tokenizer_file(checkpoint, hparams)).parent_path();
  model.folder = folder.empty() ? "." : folder.string();
  model.chat_template = chat_template != nullptr ? chat_template->choice(*model.tokenizer, model.folder)
                                                 : readable_template(model.folder);
  const auto turn_end = model.chat_template ? data::turn_end(*model.tokenizer, *model.chat_template) : std::nullopt;
  const SamplingChoices of_model =
      as_usage_error("the tokeniser's folder", [&] { return sampling_of_model(model.folder); });
  model.settings = options.settings_with(*model.tokenizer, of_model, model.folder, turn_end);
  model.of_makers = line_of_makers(options, of_model);
  model.weights = std::make_unique<LoadedModel>(recipe, checkpoint);
  return model;
}

void write_notes(const TextModel& model, std::string_view otherwise) {
  write_note(model.of_left_out);
  if (!model.of_makers.empty()) write_note(fmt::format("{}; {}", model.of_makers, otherwise));
}

SessionRequest request_for_texts(std::optional<std::int64_t> cache_tokens, std::int64_t batch,
                                 std::int64_t context_length, std::int64_t longest, std::int64_t logits) {
  const std::int64_t pages_of_text = pages_of(std::min(longest, context_length));
  return {.sizes = {.tokens = std::max(batch, std::min(most_tokens_of_pass, context_length)),
                    .wanted = std::max(batch, logits),
                    .sequences = batch,
                    .pages = cache_tokens ? pages_of(*cache_tokens) : batch * pages_of_text},
          .least_cache_tokens = pages_of_text * PagedTokens::page};
}

SessionRequest request_for_scores(const RecipeProgram& recipe) {
  return {.sizes = scoring_sizes({recipe.model->context_length, recipe.model->vocab_size})};
}

void with_session(const LoadedModel& model, const SessionRequest& request, const std::function<void(Session&)>& use) {
  advised_on_memory(memory_of(model, request), [&](bool& begun) {
    Session session(model.token_pass(request.sizes));
    begun = true;
    use(session);
  });
}

}  // namespace monomorph::train
