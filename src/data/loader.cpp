#include <monomorph/data/loader.hpp>

#include <algorithm>
#include <span>

namespace monomorph::data {

Loader::Loader(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size, std::uint64_t seed,
               bool shuffle)
    : dataset_(path, sequence_length, vocab_size, LastTarget::reused), order_(dataset_.n_samples(), seed, shuffle) {}

void Loader::read(std::int64_t first_global_sample, std::int64_t count, std::int32_t* inputs_BT,
                  std::int32_t* targets_BT) const {
  dataset_.check_unchanged();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = i * sequence_length();
    dataset_.read(order_.place(first_global_sample + i).index, inputs_BT + row, targets_BT + row);
  }
}

std::int64_t Loader::evaluation_batches(std::int64_t batch) const {
  const std::int64_t n_samples = (evaluation_targets() + sequence_length() - 1) / sequence_length();
  return (n_samples + batch - 1) / batch;
}

void Loader::read_evaluation(std::int64_t batch_index, std::int64_t batch, std::int32_t* inputs_BT,
                             std::int32_t* targets_BT) const {
  dataset_.check_unchanged();
  const std::int64_t size =
      batch * sequence_length();  // samples follow each other, so a batch is one piece of the file
  const std::int64_t first = batch_index * size;
  const std::int64_t n_read = std::clamp<std::int64_t>(evaluation_targets() - first, 0, size);
  dataset_.read_tokens(first, std::span(inputs_BT, static_cast<std::size_t>(n_read)));
  dataset_.read_tokens(first + 1, std::span(targets_BT, static_cast<std::size_t>(n_read)));
  std::fill(inputs_BT + n_read, inputs_BT + size, 0);
  std::fill(targets_BT + n_read, targets_BT + size, ignored_target);
}

}  // namespace monomorph::data
