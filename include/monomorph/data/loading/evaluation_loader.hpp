#pragma once
#include <monomorph/data/loading/loader.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::data {

/// Batches of held-out data, in order. Every token of one packed file but the first is the target of the one before it
/// once, unless a loss mask beside the file does not count it, or a prefix shows it. Where tokens are their own
/// targets, those at the end that do not fill a sample are left out, for the others of their sample would see the
/// padding.
class EvaluationLoader {
 public:
  /// @throws as TokenDataset, DocumentStarts and ReferenceScores do
  EvaluationLoader(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size,
                   const BatchContents& contents = {});

  std::int64_t sequence_length() const noexcept { return dataset_.sequence_length(); }
  bool has_document_starts() const noexcept { return document_starts_.has_value(); }
  /// The scores of a reference that a sample has; 0 if it has none.
  std::int64_t scores_per_sample() const noexcept { return reference_ ? contents_.sequences_per_sample : 0; }

  /// How many batches of `batch` samples cover all targets.
  std::int64_t n_batches(std::int64_t batch) const;
  std::int64_t n_targets() const noexcept;
  std::int64_t n_counted() const { return dataset_.n_counted(); }
  std::uint64_t tokens_hash() const { return dataset_.tokens_hash(); }
  const TokenDataset& set() const noexcept { return dataset_; }
  /// Reads `batch` samples. Beyond the end of the file inputs are 0 and targets `ignored_target`.
  /// @throws [DATA-07], [DATA-09]
  void read(std::int64_t batch_index, std::int64_t batch, const BatchBuffers& buffers) const;

 private:
  /// Of a batch of `size` tokens, of which the first n_read are the file's from `first` on.
  void read_document_starts(std::int64_t first, std::int64_t n_read, std::int64_t size,
                            std::int32_t* document_starts_BT) const;
  /// Beyond the end of the file they are 0.
  void read_reference(std::int64_t first_sample, std::int64_t count, double* reference_BK) const;

  TokenDataset dataset_;
  std::optional<DocumentStarts> document_starts_;
  std::optional<ReferenceScores> reference_;
  BatchContents contents_;
};

}  // namespace monomorph::data
