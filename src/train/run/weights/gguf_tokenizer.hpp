#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/runtime/files/gguf.hpp>

namespace monomorph::train {

/// Adds a tokenizer to the metadata of a GGUF file, as llama.cpp reads byte-level BPE. Ids of the vocabulary that have
/// no token get one that no text has.
/// @throws UsageError [GGUF-02] it is of another kind, or cuts words in a way that llama.cpp does not know
void add_tokenizer(const data::Tokenizer& tokenizer, std::int64_t vocab_size, runtime::GgufMetadata& metadata);

}  // namespace monomorph::train
