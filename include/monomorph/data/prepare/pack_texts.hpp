#pragma once
#include <monomorph/data/records/on_error.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

struct PackTextsSettings {
  std::vector<std::string> fields = {"/query", "/positive"};  ///< JSON Pointers to the texts of a record, in order
  std::int64_t sequence_length = 0;                           ///< tokens of a sample: the model's inputs
  OnError on_error = OnError::stop;
  std::string report = {};  ///< where skipped lines are listed; beside the output if empty
  int n_threads = 1;
  ProgressCallback progress = {};
};

struct PackTextsSummary {
  std::int64_t n_records = 0;  ///< of the input
  std::int64_t n_skipped = 0;  ///< lines without the texts
  std::int64_t n_samples = 0;
  std::int64_t n_cut = 0;          ///< samples of which a text lost its end
  std::int64_t n_tokens = 0;       ///< of the output, padding included
  std::int64_t n_text_tokens = 0;  ///< without padding
  std::uint64_t input_bytes = 0;
  double fill() const { return n_tokens == 0 ? 0 : static_cast<double>(n_text_tokens) / static_cast<double>(n_tokens); }
};

/// Writes the texts of each record of JSON Lines, such as a query and a text that answers it, as one sample of a packed
/// file (.pbin): each text is a document, and so is the padding behind them, which a loss mask (.mask) beside the file
/// does not count. Where the texts of a record are longer than a sample together, the longest lose their ends. The
/// bytes depend on the records and the settings, not on the number of threads, nor on how many files the records are
/// in.
/// @param inputs at least one
/// @throws [PAIRS-01] to [PAIRS-03]; [DATA-02], [DATA-04], [DATA-10], [DATA-11], [DATA-20], [DATA-21], [FILE-NN]
PackTextsSummary pack_texts(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                            const std::string& output, const PackTextsSettings& settings);

/// The tokens that an encoder reads of a text, with what the tokenizer puts around it.
std::vector<std::int32_t> text_tokens(Encoder& encoder, std::string_view text);

/// Shortens texts that have more tokens together than `most`, the longest ones first; what the tokenizer puts behind a
/// text stays.   @return whether any was cut
bool cut_texts(std::vector<std::vector<std::int32_t>>& texts, std::int64_t most, const Tokenizer& tokenizer);

}  // namespace monomorph::data
