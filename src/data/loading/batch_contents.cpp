#include <monomorph/data/loading/batch_contents.hpp>

#include <monomorph/data/loading/prefix_targets.hpp>

#include <span>

namespace monomorph::data {
namespace {

/// Each counted token's target becomes the number of its text: of its document, which are as many as texts.
void number_texts(std::int64_t texts, std::int64_t T, const std::int32_t* document_starts_T, std::int32_t* targets_T) {
  std::int32_t text = -1;
  for (std::int64_t t = 0; t < T; ++t) {
    if (document_starts_T[t] == t) ++text;
    if (targets_T[t] != ignored_target) targets_T[t] = text < texts ? text : ignored_target;
  }
}

}  // namespace

void prepare_batch(const BatchContents& contents, std::int64_t first_number, std::int64_t count, std::int64_t T,
                   std::int64_t vocab_size, const random::Stream& stream, const BatchBuffers& batch) {
  const auto [inputs_BT, targets_BT, document_starts_BT, reference_BK] = batch;
  ignore_prefix_targets(contents.prefix, T, document_starts_BT,
                        std::span(targets_BT, static_cast<std::size_t>(count * T)));
  for (std::int64_t i = 0; contents.texts_per_sample > 0 && i < count; ++i)
    number_texts(contents.texts_per_sample, T, document_starts_BT + i * T, targets_BT + i * T);
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
