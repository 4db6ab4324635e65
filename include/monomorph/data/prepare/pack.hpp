#pragma once
#include <monomorph/data/records/on_error.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::data {

/// What is done with an unfinished output that an earlier run left behind.
enum class Unfinished {
  refuse,   ///< an error that names it; our own is removed when we fail
  resume,   ///< go on from it if there is one; our own stays when we fail
  discard,  ///< remove it; our own is removed when we fail
};

struct PackSettings {
  std::string end_of_document = "<|endoftext|>";  ///< ends each document
  std::string field = "/text";                    ///< JSON Pointer to the text of a record
  std::uint32_t bytes_per_token = 0;              ///< 1, 2 or 4; 0: as Modalities derives it from the vocabulary
  OnError on_error = OnError::stop;
  std::string report{};  ///< where skipped lines are listed; beside the output if empty
  int n_threads = 1;
  Unfinished unfinished = Unfinished::refuse;
  std::string tokenizer_fingerprint{};  ///< differs between tokenizers; only a run with the same can be resumed
  ProgressCallback progress{};
};

struct PackSummary {
  std::int64_t n_documents = 0;
  std::int64_t n_empty_documents = 0;  ///< packed as nothing but the end of document
  std::int64_t n_skipped = 0;          ///< lines that are no documents
  std::int64_t n_tokens = 0;
  std::uint32_t bytes_per_token = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t resumed_bytes = 0;  ///< of these, what an earlier run had done
};

/// The id of the token that ends documents.  @throws [TOK-06] if there is none of that name
std::int32_t find_end_of_document(const Tokenizer& tokenizer, const std::string& token);

/// Writes the packed file (.pbin) of a JSON Lines file (.jsonl, .json, .ndjson), one document a line, or of a plain
/// text (.txt), one document. A document that ends in the end-of-document token is not given another. What is written
/// does not depend on the number of threads. While it works, the output is `<output>.partial` with a journal beside it.
/// @throws [DATA-02], [DATA-03], [DATA-04], [DATA-10], [DATA-11], [DATA-20] to [DATA-26], [DATA-40]; [TOK-06] if the
/// vocabulary lacks the end of document; [FILE-NN]
PackSummary pack(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings = {});

/// The same of several: JSON Lines as if they were in one file, or plain texts, each of which is a document. None of
/// several can be resumed.
/// @param inputs at least one   @throws UsageError [DATA-75] they are of both kinds
PackSummary pack(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings = {});

/// What pack() writes to until it is done.  @throws [FILE-04] for a folder
std::string unfinished_path(const std::string& output);

/// Where pack() and index_json_lines() list skipped lines unless told otherwise.
std::string default_report_path(const std::string& output);

}  // namespace monomorph::data
