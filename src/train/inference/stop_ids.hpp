#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <string>
#include <vector>

namespace monomorph::train {

/// The tokens that end a text or a turn: `<|endoftext|>`, what generation_config.json and tokenizer_config.json in the
/// folder name as end of sequence, and the special tokens that end a turn in the chat templates of known families.
/// @throws UsageError [RUN-29] one of the files is broken, or names a token that the tokeniser lacks; [FILE-NN]
std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder);

}  // namespace monomorph::train
