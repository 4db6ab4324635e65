#pragma once
#include <monomorph/data/records/on_error.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <string>

namespace monomorph::data {

struct IndexSettings {
  OnError on_error = OnError::stop;
  std::string report{};  ///< where skipped lines are listed; beside the output if empty
  int n_threads = 1;
  ProgressCallback progress{};
};

struct IndexSummary {
  std::int64_t n_documents = 0;
  std::int64_t n_skipped = 0;
  std::uint64_t input_bytes = 0;
};

/// Writes the index (.idx) of a JSON Lines file: a pickle of (offset, length) in bytes, one for each line, newline
/// excluded. Every value of every line is validated. The output appears whole or not at all.
/// @throws [DATA-02] for a line that is no JSON; [DATA-04] for an empty file; [DATA-20], [DATA-21]; [FILE-NN]
IndexSummary index_json_lines(const std::string& input, const std::string& output, const IndexSettings& settings = {});

}  // namespace monomorph::data
