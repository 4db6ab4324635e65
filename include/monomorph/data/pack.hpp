#pragma once
#include <monomorph/data/tokenizer.hpp>

#include <cstdint>
#include <string>

namespace monomorph::data {

/// Writes the index (.idx) of a JSON Lines file: a pickle of (offset, length) in bytes, one for each line, newline
/// excluded. Returns the number of lines. The output appears whole or not at all.
/// @throws [DATA-02] for a line that is no JSON; [DATA-04] for an empty file; [FILE-NN]
std::int64_t index_json_lines(const std::string& input, const std::string& output);

struct PackSettings {
  std::string end_of_document = "<|endoftext|>";  ///< ends each document
  std::string field = "/text";                    ///< JSON Pointer to the text of a record
};

struct PackSummary {
  std::int64_t n_documents = 0;
  std::int64_t n_empty_documents = 0;  ///< packed as nothing but the end of document
  std::int64_t n_tokens = 0;
  std::uint32_t bytes_per_token = 0;
};

/// Writes the packed file (.pbin) of a JSON Lines file (.jsonl, .json, .ndjson), one document a line, or of a plain
/// text
/// (.txt), one document. A document that ends in the end-of-document token is not given another.
/// @throws [DATA-02], [DATA-03], [DATA-04], [DATA-10], [TOK-06] if the vocabulary lacks the end of document; [FILE-NN]
PackSummary pack(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings = {});

}  // namespace monomorph::data
