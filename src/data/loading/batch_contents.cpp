#include <monomorph/data/loading/batch_contents.hpp>

#include <monomorph/data/loading/prefix_targets.hpp>

#include <span>

namespace monomorph::data {

void prepare_batch(const BatchContents& contents, std::int64_t first_number, std::int64_t count, std::int64_t T,
                   std::int64_t vocab_size, const random::Stream& stream, const BatchBuffers& batch) {
  const auto [inputs_BT, targets_BT, document_starts_BT] = batch;
  ignore_prefix_targets(contents.prefix, T, document_starts_BT,
                        std::span(targets_BT, static_cast<std::size_t>(count * T)));
  if (!contents.prepare) return;
  const auto key = random::key_of(stream);
  for (std::int64_t i = 0; i < count; ++i)
    contents.prepare({.inputs_T = inputs_BT + i * T,
                      .targets_T = targets_BT + i * T,
                      .document_starts_T = document_starts_BT == nullptr ? nullptr : document_starts_BT + i * T,
                      .T = T,
                      .vocab_size = vocab_size,
                      .number = static_cast<std::uint64_t>(first_number + i),
                      .key = key});
}

}  // namespace monomorph::data
