#include <monomorph/core/error.hpp>
#include <monomorph/data/loader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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
  const std::int64_t size = batch * sequence_length();  // samples follow each other, so a batch is one piece of the file
  const std::int64_t first = batch_index * size;
  const std::int64_t n_read = std::clamp<std::int64_t>(evaluation_targets() - first, 0, size);
  dataset_.read_tokens(first, std::span(inputs_BT, static_cast<std::size_t>(n_read)));
  dataset_.read_tokens(first + 1, std::span(targets_BT, static_cast<std::size_t>(n_read)));
  std::fill(inputs_BT + n_read, inputs_BT + size, 0);
  std::fill(targets_BT + n_read, targets_BT + size, ignored_target);
}

std::int64_t Loader::evaluation_bytes(std::span<const std::int32_t> token_byte_lengths) const {
  std::vector<std::int32_t> piece(1 << 14);
  std::int64_t n_bytes = 0;
  for (std::int64_t first = 1; first < tokens(); first += static_cast<std::int64_t>(piece.size())) {
    const auto size = std::min<std::int64_t>(tokens() - first, static_cast<std::int64_t>(piece.size()));
    dataset_.read_tokens(first, std::span(piece).first(static_cast<std::size_t>(size)));
    for (std::int64_t i = 0; i < size; ++i) {
      const auto id = static_cast<std::size_t>(piece[static_cast<std::size_t>(i)]);
      if (id >= token_byte_lengths.size()) {
        throw UsageError(fmt::format("[DATA-07] the evaluation set has the token id {}, and the tokenizer's vocabulary "
                                     "ends at {}; give the tokenizer that it was packed with",
                                     id, token_byte_lengths.size() - 1));
      }
      n_bytes += token_byte_lengths[id];
    }
  }
  return n_bytes;
}

}  // namespace monomorph::data
