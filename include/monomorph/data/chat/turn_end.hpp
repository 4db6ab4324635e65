#pragma once
#include <monomorph/data/chat/template_choice.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <optional>

namespace monomorph::data {

/// The special token that ends a turn of the assistant's as a template writes it. With a model's own template a chat is
/// tried, and it is the token that follows what the assistant says: where the chat ends with that, else where the user
/// goes on, as some templates write nothing behind the last answer. Nothing if no special token follows, or if the
/// template refuses such a chat or takes far longer for it than any published one.
std::optional<std::int32_t> turn_end(const Tokenizer& tokenizer, const TemplateChoice& chat_template);

}  // namespace monomorph::data
