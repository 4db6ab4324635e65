#pragma once
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/formats/token_dataset.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// What `format` of a loss mask is of samples that hold so many sequences each, to be compared.
std::uint64_t sequences_format(std::int64_t sequences_per_sample);

/// Where the scores of a packed file lie: F.reference beside F.pbin, and the extension is added to any other name.
std::string reference_scores_path(const std::string& packed_file);

/// @throws [PREF-05] unless pack_preferences() made the set of samples that hold so many sequences each
void check_sequences(const TokenDataset& set, std::int64_t sequences_per_sample);

/// Writes how probable the sequences of a set are to a model: a header, then for each sample and sequence the sum of
/// the log-probabilities of its counted tokens. The file appears whole or not at all.
/// @param scores sample by sample
void write_reference_scores(const TokenDataset& set, std::int64_t sequences_per_sample, std::span<const double> scores);

/// What write_reference_scores() has written beside a set, mapped.
class ReferenceScores {
 public:
  /// @throws [PREF-06] there are none; [PREF-07] they are damaged, or none; [PREF-08] they are of other samples
  static ReferenceScores beside(const TokenDataset& set, std::int64_t sequences_per_sample);

  /// The scores of the sequences of a sample, in order.
  std::span<const double> of(std::int64_t sample) const;

 private:
  ReferenceScores(const TokenDataset& set, std::int64_t sequences_per_sample);

  MappedFile file_;
  std::int64_t sequences_per_sample_;
};

}  // namespace monomorph::data
