#pragma once
#include <monomorph/core/weighted_path.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/data/formats/token_dataset.hpp>
#include <monomorph/data/loading/batch_contents.hpp>
#include <monomorph/data/loading/document_starts.hpp>
#include <monomorph/data/loading/mixture.hpp>
#include <monomorph/data/loading/sample_order.hpp>
#include <monomorph/data/loading/weight_by.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::data {

// B samples of a batch, T tokens of a sample.

struct LoaderSettings {
  std::int64_t sequence_length;
  std::int64_t vocab_size;
  std::uint64_t seed = 0;
  bool shuffle = true;
  LastTarget last_target = LastTarget::reused;
  WeightBy weight_by = WeightBy::sample;
  BatchContents contents = {};
};

/// Training batches of one packed file or a weighted mixture of several, without end: each set has epochs of its own,
/// each in an order of its own. Immutable: a batch is a function of its place, so threads may share a loader and a run
/// resumes from one number. Allocates nothing after its construction, unless `prepare` does.
class Loader {
 public:
  /// @throws [DATA-64], and as TokenDataset, DocumentStarts and ReferenceScores do, naming the set
  Loader(const WeightedPaths& sets, const LoaderSettings& settings);

  std::int64_t sequence_length() const noexcept { return settings_.sequence_length; }
  bool has_document_starts() const noexcept { return settings_.contents.document_starts; }
  /// The scores of a reference that a sample has; 0 if it has none.
  std::int64_t scores_per_sample() const noexcept {
    return settings_.contents.reference_scores ? settings_.contents.sequences_per_sample : 0;
  }

  /// Reads samples [first_global_sample, first_global_sample + count) of the run, counted from 0 over all sets and
  /// epochs. A document is taken to begin in each row where it does in the file, or at the row's own beginning.
  /// @throws [DATA-07], [DATA-09]
  void read(std::int64_t first_global_sample, std::int64_t count, const BatchBuffers& batch) const;

  std::size_t n_sets() const noexcept { return sets_.size(); }
  const TokenDataset& set(std::size_t set) const { return sets_[set].dataset; }
  /// The part of all samples that comes from a set.
  double share(std::size_t set) const { return mixture_.share(set); }
  /// How many of the first `n` samples of a run each set has.
  std::vector<std::int64_t> samples_by_set(std::int64_t n) const { return mixture_.counts(n); }

 private:
  struct Set {
    TokenDataset dataset;
    SampleOrder order;
    std::optional<DocumentStarts> document_starts;
    std::optional<ReferenceScores> reference;
  };
  static std::vector<Set> open(const WeightedPaths& sets, const LoaderSettings& settings);
  static Mixture mixture(const WeightedPaths& paths, const std::vector<Set>& sets, WeightBy weight_by);

  LoaderSettings settings_;
  std::vector<Set> sets_;
  Mixture mixture_;
};

}  // namespace monomorph::data
