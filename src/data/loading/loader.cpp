#include <monomorph/data/loading/loader.hpp>

#include <algorithm>
#include <span>

namespace monomorph::data {

Loader::Loader(const WeightedPaths& sets, const LoaderSettings& settings)
    : settings_(settings), sets_(open(sets, settings)), mixture_(mixture(sets, sets_, settings.weight_by)) {}

std::vector<Loader::Set> Loader::open(const WeightedPaths& paths, const LoaderSettings& settings) {
  std::vector<Set> sets;
  sets.reserve(paths.size());
  for (const WeightedPath& path : paths) {
    TokenDataset dataset(path.path, settings.sequence_length, settings.vocab_size, settings.last_target,
                         settings.contents.target);
    if (settings.contents.texts_per_sample > 0) dataset.check_texts(settings.contents.texts_per_sample);
    const std::int64_t sequences = settings.contents.sequences_per_sample;
    if (sequences > 0) check_sequences(dataset, sequences);
    std::optional<ReferenceScores> reference;
    if (settings.contents.reference_scores) reference = ReferenceScores::beside(dataset, sequences);
    // Sets of one length would else be walked through in one order.
    const std::uint64_t seed = SampleOrder::seed_of_set(settings.seed, sets.size());
    const SampleOrder order(dataset.n_samples(), seed, settings.shuffle);
    std::optional<DocumentStarts> starts;
    if (settings.contents.document_starts) starts.emplace(dataset.file());
    sets.push_back({std::move(dataset), order, std::move(starts), std::move(reference)});
  }
  return sets;
}

Mixture Loader::mixture(const WeightedPaths& paths, const std::vector<Set>& sets, WeightBy weight_by) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const double size = weight_by == WeightBy::token ? static_cast<double>(sets[i].dataset.n_samples()) : 1;
    weights.push_back(paths[i].weight * size);
  }
  return Mixture(weights);
}

void Loader::read(std::int64_t first_global_sample, std::int64_t count, const BatchBuffers& batch) const {
  for (const Set& set : sets_) set.dataset.check_unchanged();
  const std::int64_t T = sequence_length();
  Mixture::Cursor cursor(mixture_, first_global_sample);
  for (std::int64_t i = 0; i < count; ++i) {
    const Mixture::Place place = cursor.next();
    const Set& set = sets_[place.set];
    const std::int64_t sample = set.order.place(place.index).index, row = i * T;
    set.dataset.read(sample, batch.inputs_BT + row, batch.targets_BT + row);
    if (set.document_starts && batch.document_starts_BT != nullptr)
      set.document_starts->read(set.dataset.first_token(sample),
                                std::span(batch.document_starts_BT + row, static_cast<std::size_t>(T)));
    if (set.reference && batch.reference_BK != nullptr)
      std::ranges::copy(set.reference->of(sample), batch.reference_BK + i * scores_per_sample());
  }
  prepare_batch(settings_.contents, first_global_sample, count, T, settings_.vocab_size,
                {settings_.seed, random::Purpose::training_samples}, batch);
}

}  // namespace monomorph::data
