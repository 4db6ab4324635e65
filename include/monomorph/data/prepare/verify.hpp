#pragma once
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// Told of each thing that is wrong, in one line.
using FindingCallback = std::function<void(std::string_view finding)>;

struct VerifySettings {
  std::optional<std::int64_t> vocab_size{};       ///< every id must be below
  std::optional<std::int64_t> end_of_document{};  ///< the id that every document must end in
};

struct VerifySummary {
  std::int64_t n_documents = 0;
  std::int64_t n_empty_documents = 0;  ///< without a token, or the end of document alone where it is given
  std::int64_t n_tokens = 0;
  bool has_loss_mask = false;
  std::int64_t n_findings = 0;
};

/// Looks for everything that can be wrong in a packed file: header, index, places of the documents, ids; and whether a
/// loss mask beside it is its own.
/// @throws [FILE-NN], [DATA-09], [DATA-11]; what is wrong with the file itself is a finding
VerifySummary verify_packed(const std::string& path, const VerifySettings& settings, const FindingCallback& report,
                            const ProgressCallback& progress = {});

/// Looks whether an index (.idx) is that of a JSON Lines file: every document a line that is one JSON value, and every
/// line that is one, a document.
/// @throws [FILE-NN], [DATA-11]
VerifySummary verify_index(const std::string& path, const std::string& json_lines, const FindingCallback& report,
                           const ProgressCallback& progress = {});

}  // namespace monomorph::data
