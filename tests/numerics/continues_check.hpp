#pragma once
#include "numerics/weights_check.hpp"
#include "support/one_sequence.hpp"
#include "support/training_program.hpp"

#include <algorithm>

namespace monomorph::testing {

/// Of what a fixture was continued with by greedy choices each token follows here, with a cache.
template <Recipe R> void check_continues(const std::string& name) {
  const auto expected = runtime::SafetensorsFile::open(fixture(name) + "/expected.safetensors");
  const std::vector<std::int32_t> continued = ids_of(expected, "continued");
  Model<R, train::GeneratingStep<R>> model;
  const auto opened = train::open_weights(fixture(name), training_program<R>(), {});
  train::load_weights(*opened.source, {}, model.step);
  constexpr std::size_t T = R::model.context_length, prompt = 6;
  OneSequence decoder(model.step, T);
  for (std::size_t row = 0; row < continued.size(); row += T) {
    CAPTURE(row);
    decoder.reset();
    std::vector<std::int32_t> text(continued.begin() + static_cast<std::ptrdiff_t>(row),
                                   continued.begin() + static_cast<std::ptrdiff_t>(row + prompt));
    for (std::size_t t = 0; t + 1 < T; ++t) {
      const float* const logits = decoder.feed(text[t]);
      if (t + 1 < prompt) continue;
      const std::int64_t vocabulary = R::model.vocab_size;
      text.push_back(static_cast<std::int32_t>(std::max_element(logits, logits + vocabulary) - logits));
    }
    CHECK(std::equal(text.begin(), text.end(), continued.begin() + static_cast<std::ptrdiff_t>(row)));
  }
}

}  // namespace monomorph::testing
