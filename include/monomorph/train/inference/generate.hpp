#pragma once
#include <functional>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/inference/sampling.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// Continues a prompt. Text is passed to `show` as soon as its characters are complete. When the context is full, its
/// second half is decoded again as the new context. Generation ends after max_tokens, at <|endoftext|>, or before the
/// first of the texts `stops` that appears.
/// @throws UsageError [RUN-09] an empty prompt and no end-of-text token to begin with
void generate(Decoder& decoder, const data::Tokenizer& tokenizer, std::string_view prompt, std::int64_t max_tokens,
              const SamplingSettings& settings, const std::vector<std::string>& stops,
              const std::function<void(std::string_view)>& show);

}  // namespace monomorph::train
