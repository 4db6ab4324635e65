#pragma once
#include <monomorph/data/sample_order.hpp>
#include <monomorph/data/token_dataset.hpp>

#include <cstdint>
#include <string>

namespace monomorph::data {

// B samples of a batch, T tokens of a sample.

/// Batches of one packed file, for training (shuffled, without end) and for evaluation (every token once, in order).
/// Immutable: a batch is a function of its place, so threads may share a loader and a run resumes from one number.
class Loader {
 public:
  /// @throws as TokenDataset does
  Loader(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size, std::uint64_t seed,
         bool shuffle);

  std::int64_t samples_per_epoch() const noexcept { return order_.n_samples(); }
  std::int64_t tokens() const noexcept { return dataset_.n_tokens(); }
  std::int64_t sequence_length() const noexcept { return dataset_.sequence_length(); }

  /// Reads samples [first_global_sample, first_global_sample + count) of the run: both outputs are (count, T).
  /// Samples are counted from 0 over all epochs.  @throws [DATA-07], [DATA-09]
  void read(std::int64_t first_global_sample, std::int64_t count, std::int32_t* inputs_BT,
            std::int32_t* targets_BT) const;

  /// How many batches of `batch` samples cover all targets.
  std::int64_t evaluation_batches(std::int64_t batch) const;
  /// Every token but the first, each once.
  std::int64_t evaluation_targets() const noexcept { return tokens() - 1; }
  /// Reads a batch of evaluation, both outputs (batch, T). Beyond the end of the file inputs are 0 and targets
  /// `ignored_target`.  @throws [DATA-07], [DATA-09]
  void read_evaluation(std::int64_t batch_index, std::int64_t batch, std::int32_t* inputs_BT,
                       std::int32_t* targets_BT) const;

 private:
  TokenDataset dataset_;
  SampleOrder order_;
};

}  // namespace monomorph::data
