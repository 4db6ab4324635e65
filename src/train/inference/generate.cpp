#include <monomorph/train/inference/generate.hpp>

#include "train/inference/stop_texts.hpp"

#include <algorithm>
#include <monomorph/core/error.hpp>

namespace monomorph::train {
namespace {

/// Feeds the last tokens that fit into half the context, or all of them if that is less.
const float* refill(Decoder& decoder, std::span<const std::int32_t> ids) {
  decoder.reset();
  const std::size_t n =
      std::min<std::size_t>(ids.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, decoder.capacity() / 2)));
  const float* logits = nullptr;
  for (const std::int32_t id : ids.last(n)) logits = decoder.feed(id);
  return logits;
}

const float* feed(Decoder& decoder, std::span<const std::int32_t> ids) {
  return decoder.length() < decoder.capacity() ? decoder.feed(ids.back()) : refill(decoder, ids);
}

}  // namespace

void generate(Decoder& decoder, const data::Tokenizer& tokenizer, std::string_view prompt, std::int64_t max_tokens,
              const SamplingSettings& settings, const std::vector<std::string>& stops,
              const std::function<void(std::string_view)>& show) {
  const auto before = tokenizer.ids_before_text();
  std::vector<std::int32_t> ids(before.begin(), before.end());
  for (const std::int32_t id : tokenizer.encode(prompt)) ids.push_back(id);
  const auto end = tokenizer.find("<|endoftext|>");
  if (ids.empty() && end) ids.push_back(*end);
  if (ids.empty())
    throw UsageError("RUN-09",
                     "the prompt is empty and the tokeniser has no <|endoftext|> to begin with; give --prompt");
  const float* logits = nullptr;
  if (std::ssize(ids) < decoder.capacity())
    for (const std::int32_t id : ids) logits = decoder.feed(id);
  else
    logits = refill(decoder, ids);

  Sampler sampler(settings);
  data::StreamDecoder text(tokenizer, true);
  StopTexts until(stops);
  const auto n_logits = static_cast<std::size_t>(tokenizer.vocab_size());  // ids beyond have no text
  for (std::int64_t i = 0; i < max_tokens && !until.reached(); ++i) {
    const std::int32_t id = sampler.draw({logits, n_logits}, i);
    if (end && id == *end) break;
    ids.push_back(id);
    show(until.push(text.push(id)));
    if (i + 1 < max_tokens && !until.reached()) logits = feed(decoder, ids);
  }
  show(until.push(text.finish()));
  show(until.finish());
}

}  // namespace monomorph::train
