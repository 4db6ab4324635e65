#pragma once
#include <string>

namespace monomorph::data {

/// Whether a tokeniser's file is a SentencePiece model, and no tokenizer.json: by its name, or because it begins as
/// such files do.
bool is_sentence_piece_file(const std::string& path);

}  // namespace monomorph::data
