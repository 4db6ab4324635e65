#pragma once
#include "train/commands/chat_template_option.hpp"
#include "train/commands/generation_options.hpp"

#include <monomorph/train/step/inference_model.hpp>
#include <monomorph/train/step/session.hpp>

#include <functional>
#include <optional>

namespace monomorph::train {

/// A checkpoint's weights, whole on this rank.
class LoadedModel {
 public:
  /// @param recipe outlives this   @throws as restored_model; UsageError of memory that is refused, with advice
  LoadedModel(const RecipeProgram& recipe, const std::string& checkpoint);
  Owned<TokenPass> token_pass(const PassSizes& sizes) const { return model_->token_pass(sizes); }
  const RecipeProgram& recipe() const { return recipe_; }
  /// Sequences at a time of the model's own forward pass.
  std::int64_t micro_batch() const { return recipe_.caches_tokens ? 0 : 1; }

 private:
  const RecipeProgram& recipe_;
  std::unique_ptr<Communicator> communicator_;
  Owned<InferenceModel> model_;
};

/// What continues texts.
struct TextModel {
  std::unique_ptr<const data::Tokenizer> tokenizer;
  std::vector<data::AddedToken> left_out;  ///< of the tokeniser's file, as the model has no rows for them
  std::string of_left_out;                 ///< a line for people that names them; empty if there are none
  std::string folder;                      ///< of the tokeniser, with what else came with the model's files
  std::optional<data::TemplateChoice> chat_template;
  GenerationSettings settings;
  std::string of_makers;  ///< what of the settings generation_config.json says, as a line for people; empty: nothing
  std::unique_ptr<LoadedModel> weights;
};

/// @throws UsageError [RUN-25] the recipe does not predict next tokens
void check_predicts_next_token(const RecipeProgram& recipe);

/// The model of a checkpoint with its tokeniser.
/// @param chat_template of a command that writes chats; without it, a template that cannot be read is none
/// @throws UsageError [RUN-11], [RUN-29], [RUN-31]; as ChatTemplateOption::choice
TextModel load_text_model(const RecipeProgram& recipe, const GenerationOptions& options,
                          const ChatTemplateOption* chat_template = nullptr);

/// Tells the lines for people, on standard error; there may be none.
/// @param otherwise what may say otherwise than generation_config.json how tokens are chosen, as a clause
void write_notes(const TextModel& model, std::string_view otherwise);

/// What a session is asked for.
struct SessionRequest {
  PassSizes sizes;
  /// The fewest that the user may lower --cache-tokens to; absent where there is no such option.
  std::optional<std::int64_t> least_cache_tokens{};
};

/// @param cache_tokens that the texts at a time have together; absent: as many as they can have
/// @param batch texts at a time   @param longest tokens that a text may have with its prompt
/// @param logits tokens of a prompt whose logits are asked for in one pass
SessionRequest request_for_texts(std::optional<std::int64_t> cache_tokens, std::int64_t batch,
                                 std::int64_t context_length, std::int64_t longest, std::int64_t logits = 1);

/// Of a session that scores texts.
SessionRequest request_for_scores(const RecipeProgram& recipe);

/// Calls use(session).   @throws UsageError of memory that is refused while the session is made, and Error while it is
/// used, with advice; what `use` throws
void with_session(const LoadedModel& model, const SessionRequest& request, const std::function<void(Session&)>& use);

}  // namespace monomorph::train
