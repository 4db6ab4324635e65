#pragma once
#include "train/serve/completion_request.hpp"

namespace monomorph::train {

/// How long a client wants each text of its answer to become.
struct WantedTokens {
  const char* field;                  ///< that says so
  std::optional<std::int64_t> given;  ///< what it says; without it as many as there is room for
  std::optional<std::int64_t> usual;  ///< and no more than these
};

/// Says how many tokens each text of a request may have: what the model's context and its cache have room for behind
/// the longest prompt, and what keeps the log-probabilities of the answer within most_log_probabilities.
/// @param request whose prompts, samples and log-probabilities are known
/// @throws ApiError 400: too many texts; what was given, or the prompt itself, is too much for one of these
void set_most_tokens(CompletionRequest& request, const ServedModel& model, const WantedTokens& wanted);

}  // namespace monomorph::train
