#pragma once
#include "train/run/weights/special_tokens.hpp"

#include <monomorph/runtime/files/gguf.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Adds which tokens begin texts, end them and end turns, fill texts up and stand for what is unknown, and whether the
/// tokeniser puts the first two around a text.
/// @param notes gets a line if llama.cpp does not stop at all tokens that end texts
/// @throws UsageError [GGUF-02] there is none that ends texts, or several stand around each; as SpecialTokens
void add_special_tokens(const data::Tokenizer& tokenizer, const SpecialTokens& special, runtime::GgufMetadata& metadata,
                        std::vector<std::string>& notes);

/// Adds the chat templates of a run folder, as they stand.   @throws as data::chat_template_sources
void add_chat_templates(const std::string& run_folder, runtime::GgufMetadata& metadata);

}  // namespace monomorph::train
