#pragma once
#include <monomorph/data/loading/loader.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::data {

/// Batches of held-out data: every token of one packed file but the first is a target once, in order, unless a loss
/// mask beside the file does not count it, or a prefix shows it.
class EvaluationLoader {
 public:
  /// @param document_starts, prefix as in LoaderSettings   @throws as TokenDataset and DocumentStarts do
  EvaluationLoader(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size,
                   bool document_starts = false, std::int64_t prefix = 0);

  std::int64_t sequence_length() const noexcept { return dataset_.sequence_length(); }
  bool has_document_starts() const noexcept { return document_starts_.has_value(); }

  /// How many batches of `batch` samples cover all targets.
  std::int64_t n_batches(std::int64_t batch) const;
  std::int64_t n_targets() const noexcept { return dataset_.n_tokens() - 1; }
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

  TokenDataset dataset_;
  std::optional<DocumentStarts> document_starts_;
  std::int64_t prefix_;
};

}  // namespace monomorph::data
