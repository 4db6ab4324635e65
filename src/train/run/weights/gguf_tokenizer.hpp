#pragma once
#include "train/run/weights/special_tokens.hpp"

#include <monomorph/runtime/files/gguf.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Adds a tokenizer to the metadata of a GGUF file, as llama.cpp reads it: BPE, byte-level or as SentencePiece has it.
/// @return a line for each thing in which llama.cpp differs
/// @throws UsageError [GGUF-02] llama.cpp has no such tokenizer; as SpecialTokens
std::vector<std::string> add_tokenizer(const data::Tokenizer& tokenizer, const SpecialTokens& special,
                                       std::int64_t vocab_size, runtime::GgufMetadata& metadata);

}  // namespace monomorph::train
