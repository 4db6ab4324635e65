#pragma once
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::data {

/// Which documents are kept: those that meet everything that is given.
struct FilterSettings {
  std::optional<std::int64_t> min_tokens{}, max_tokens{};  ///< of a packed file's documents, both included
  std::string where{};                                     ///< a RecordExpression; empty for none
  std::string records{};  ///< for a packed file, the JSON Lines file that it was packed from, which `where` looks at
  std::string skipped{};  ///< the report of the lines of `records` that packing skipped; empty if it skipped none
};

struct FilterSummary {
  SetSize read, kept;
};

/// Writes the documents of a set (.pbin, .jsonl) that are kept, in order.
/// @throws [DATA-10] for settings that the kind of set has no answer to; [DATA-43]; [DATA-44] if a field of `where` is
/// in no record; [DATA-45] if no document is left; [DATA-46] if `records`, without what
/// was skipped, has another number of documents; [DATA-53] for `skipped`; [DATA-40] and what reading the set throws;
/// [FILE-NN]
FilterSummary filter(const std::string& input, const std::string& output, const FilterSettings& settings,
                     const ProgressCallback& progress = {});

}  // namespace monomorph::data
