#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/runtime/files/gguf.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Adds byte-level BPE to the metadata of a GGUF file: "gpt2" there, whatever pattern cuts the words.
/// @param notes gets a line for each thing in which llama.cpp differs
/// @throws UsageError [GGUF-02] llama.cpp does not know how it cuts words, or what it does to texts before
void add_byte_level_bpe(const data::Tokenizer& tokenizer, const data::tokenizer_models::Bpe& bpe,
                        std::int64_t vocab_size, runtime::GgufMetadata& metadata, std::vector<std::string>& notes);

}  // namespace monomorph::train
