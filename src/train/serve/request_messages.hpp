#pragma once
#include "train/serve/chat_prompt.hpp"
#include "train/serve/request_fields.hpp"

#include <vector>

namespace monomorph::train {

/// Reads `messages`, the conversation of a request for a chat.   @throws ApiError 400
std::vector<PromptMessage> read_messages(RequestFields& fields);

}  // namespace monomorph::train
