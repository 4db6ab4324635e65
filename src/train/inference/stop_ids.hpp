#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// The tokens that end a text or a turn: `<|endoftext|>` and its like; the token that ends turns by the model's chat
/// template, and if nobody knows that, all special tokens of the tokeniser that end turns in families that are known
/// here; and what generation_config.json and tokenizer_config.json in the folder name as end of sequence.
/// @param turn_end as data::turn_end has it
/// @throws UsageError [RUN-29] one of the files is broken, or names a token that the tokeniser lacks; [FILE-NN]
std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder,
                                   std::optional<std::int32_t> turn_end = std::nullopt);

}  // namespace monomorph::train
