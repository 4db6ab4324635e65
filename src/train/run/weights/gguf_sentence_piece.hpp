#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/runtime/files/gguf.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Adds BPE over characters to the metadata of a GGUF file, as SentencePiece has it: "llama" there. Spaces are U+2581,
/// and what has no token becomes its bytes.
/// @param notes gets a line for each thing in which llama.cpp differs
/// @throws UsageError [GGUF-02] llama.cpp would merge otherwise, or does not know what it does to texts before
void add_sentence_piece_bpe(const data::Tokenizer& tokenizer, const data::tokenizer_models::Bpe& bpe,
                            std::int64_t vocab_size, runtime::GgufMetadata& metadata, std::vector<std::string>& notes);

}  // namespace monomorph::train
