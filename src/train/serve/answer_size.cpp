#include "train/serve/answer_size.hpp"

#include "train/serve/api_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::train {
namespace {

void check_number_of_texts(const CompletionRequest& request) {
  if (std::ssize(request.prompts) * request.samples > CompletionRequest::most_texts)
    throw ApiError(400,
                   fmt::format("a request may ask for {} texts, and {} prompts with n = {} are more",
                               CompletionRequest::most_texts, request.prompts.size(), request.samples),
                   "n");
}

/// Tokens that a text may have behind its prompt: the last one of a text is never read.
/// @param what has place for so many tokens that are read
std::int64_t room_behind_prompt(const CompletionRequest& request, const WantedTokens& wanted, const char* what,
                                std::int64_t tokens) {
  std::int64_t longest = 0;
  for (const ServedPrompt& prompt : request.prompts) longest = std::max(longest, std::ssize(prompt.ids));
  const std::int64_t room = tokens + 1 - longest;
  if (room >= 1 && wanted.given.value_or(0) <= room) return room;
  throw ApiError(400,
                 fmt::format("{} has {} tokens, and the prompt has {}{}", what, tokens, longest,
                             wanted.given ? fmt::format(", with {} = {} to follow", wanted.field, *wanted.given) : ""),
                 room < 1 ? (request.chat ? "messages" : "prompt") : wanted.field, "context_length_exceeded");
}

/// Tokens that a text may have if each of them, and of the prompts that are shown, has log-probabilities in the answer.
std::int64_t room_for_log_probabilities(const CompletionRequest& request, const WantedTokens& wanted) {
  constexpr std::int64_t most = CompletionRequest::most_log_probabilities;
  const std::int64_t of_token = *request.log_probabilities + 1, texts = std::ssize(request.prompts) * request.samples;
  std::int64_t shown = 0;
  for (const ServedPrompt& prompt : request.prompts)
    if (request.echo) shown += std::ssize(prompt.ids) * request.samples;
  if ((shown + texts * wanted.given.value_or(1)) * of_token <= most) return (most / of_token - shown) / texts;
  throw ApiError(400,
                 fmt::format("an answer may have {} log-probabilities, and this one would have more: {} for each token "
                             "of {} texts; ask for fewer of them, or for fewer or shorter texts",
                             most, of_token, texts),
                 "logprobs");
}

}  // namespace

void set_most_tokens(CompletionRequest& request, const ServedModel& model, const WantedTokens& wanted) {
  check_number_of_texts(request);
  std::int64_t most = room_behind_prompt(request, wanted, "the model's context", model.context_length);
  most = std::min(most, room_behind_prompt(request, wanted, "this server's cache",
                                           model.cache_tokens.value_or(model.context_length)));
  if (request.log_probabilities) most = std::min(most, room_for_log_probabilities(request, wanted));
  request.settings.max_tokens = wanted.given ? *wanted.given : std::min(most, wanted.usual.value_or(most));
}

}  // namespace monomorph::train
