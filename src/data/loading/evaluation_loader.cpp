#include <monomorph/data/loading/evaluation_loader.hpp>

#include <monomorph/core/truncation_guard.hpp>

#include <algorithm>
#include <span>

namespace monomorph::data {

EvaluationLoader::EvaluationLoader(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size,
                                   const BatchContents& contents)
    : dataset_(path, sequence_length, vocab_size, LastTarget::reused, contents.target), contents_(contents) {
  if (contents.texts_per_sample > 0) dataset_.check_texts(contents.texts_per_sample);
  if (contents.sequences_per_sample > 0) check_sequences(dataset_, contents.sequences_per_sample);
  if (contents.reference_scores) reference_ = ReferenceScores::beside(dataset_, contents.sequences_per_sample);
  if (contents.document_starts) document_starts_.emplace(dataset_.file());
}

std::int64_t EvaluationLoader::n_targets() const noexcept {
  return contents_.target == TargetToken::next ? dataset_.n_tokens() - 1 : dataset_.n_samples() * sequence_length();
}

std::int64_t EvaluationLoader::n_batches(std::int64_t batch) const {
  const std::int64_t n_samples = (n_targets() + sequence_length() - 1) / sequence_length();
  return (n_samples + batch - 1) / batch;
}

void EvaluationLoader::read(std::int64_t batch_index, std::int64_t batch, const BatchBuffers& buffers) const {
  dataset_.check_unchanged();
  const auto [inputs_BT, targets_BT, document_starts_BT, reference_BK] = buffers;
  const std::int64_t T = sequence_length();
  const std::int64_t size = batch * T;  // samples follow each other, so a batch is one piece of the file
  const std::int64_t first = batch_index * size;
  const std::int64_t n_read = std::clamp<std::int64_t>(n_targets() - first, 0, size);
  dataset_.read_tokens(first, std::span(inputs_BT, static_cast<std::size_t>(n_read)));
  dataset_.read_targets(first, std::span(targets_BT, static_cast<std::size_t>(n_read)));
  throw_if_truncated();
  std::fill(inputs_BT + n_read, inputs_BT + size, 0);
  std::fill(targets_BT + n_read, targets_BT + size, ignored_target);
  if (document_starts_ && document_starts_BT != nullptr) read_document_starts(first, n_read, size, document_starts_BT);
  if (reference_ && reference_BK != nullptr) read_reference(batch_index * batch, batch, reference_BK);
  prepare_batch(contents_, batch_index * batch, batch, T, dataset_.vocab_size(),
                {.seed = 0, .purpose = random::Purpose::evaluation_samples}, buffers);
}

void EvaluationLoader::read_reference(std::int64_t first_sample, std::int64_t count, double* reference_BK) const {
  const std::int64_t K = scores_per_sample();
  for (std::int64_t i = 0; i < count; ++i)
    if (first_sample + i < dataset_.n_samples())
      std::ranges::copy(reference_->of(first_sample + i), reference_BK + i * K);
    else
      std::fill_n(reference_BK + i * K, K, 0.0);
}

void EvaluationLoader::read_document_starts(std::int64_t first, std::int64_t n_read, std::int64_t size,
                                            std::int32_t* document_starts_BT) const {
  const std::int64_t T = sequence_length();
  std::fill(document_starts_BT, document_starts_BT + size, 0);
  for (std::int64_t row = 0; row < n_read; row += T) {
    const std::int64_t n_in_row = std::min(T, n_read - row);
    document_starts_->read(first + row, std::span(document_starts_BT + row, static_cast<std::size_t>(n_in_row)));
    std::fill(document_starts_BT + row + n_in_row, document_starts_BT + row + T,
              document_starts_BT[row + n_in_row - 1]);  // padding goes on with the last document
  }
}

}  // namespace monomorph::data
