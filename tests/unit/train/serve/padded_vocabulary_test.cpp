// A model may have more ids than its tokeniser has tokens: what generate and serve tell of probabilities then.
#include "support/catch.hpp"
#include "train/serve/scheduler.hpp"

#include <monomorph/train/inference/generate.hpp>

#include <chrono>
#include <cmath>
#include <utility>

using namespace monomorph;
using namespace monomorph::train;

namespace {

constexpr std::int64_t most_tokens = 32, n_padding = 1000;

/// Finds ids without tokens more probable than all others, which are equally probable.
class PaddedPass final : public TokenPass {
 public:
  explicit PaddedPass(std::int64_t n_named)
      : n_named_(n_named), logits_(static_cast<std::size_t>(sizes().wanted * vocab_size())) {}
  PassSizes sizes() const override { return {.tokens = 16, .wanted = 16, .sequences = 2, .pages = 4}; }
  PassLimits limits() const override { return {most_tokens, vocab_size()}; }
  View run(const NewTokens& tokens) override {
    for (std::size_t i = 0; i < logits_.size(); ++i)
      logits_[i] = static_cast<std::int64_t>(i) % vocab_size() < n_named_ ? 0.0f : 1.0f;
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::fp32, {std::ssize(tokens.wanted), vocab_size()}};
  }

 private:
  std::int64_t vocab_size() const { return n_named_ + n_padding; }

  std::int64_t n_named_;
  std::vector<float> logits_;
};

struct Padded {
  std::unique_ptr<const data::Tokenizer> tokenizer =
      data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/qwen2.json");
  Session session{make_owned<PaddedPass>(tokenizer->vocab_size())};
  GenerationSettings settings{.max_tokens = 3, .sampling = {.temperature = 0}};

  /// Of every token, as training has it: over the ids without tokens, too.
  double expected() const {
    return -std::log(static_cast<double>(tokenizer->vocab_size()) + static_cast<double>(n_padding) * std::exp(1.0));
  }
  void check(const std::vector<Candidate>& candidates) const {
    REQUIRE(candidates.size() == 3);
    for (const Candidate& candidate : candidates) {
      CHECK(candidate.id < tokenizer->vocab_size());
      CHECK(candidate.probability == Approx(expected()).epsilon(1e-9));
    }
  }
};

}  // namespace

TEST_CASE("Log-probabilities of generate are over ids without tokens, too, and tell tokens alone") {
  Padded padded;
  padded.settings.log_probabilities = 2;
  bool is_asked = false;
  GeneratedText written;
  generate(padded.session, *padded.tokenizer, padded.settings,
           {.next = [&]() -> std::optional<TextRequest> {
              if (std::exchange(is_asked, true)) return std::nullopt;
              return TextRequest{{5}, {}};
            },
            .show = [](TextNumber, std::string_view) {},
            .done = [&](TextNumber, GeneratedText text) { written = std::move(text); }});
  REQUIRE(written.log_probabilities.size() == 3);
  for (const auto& candidates : written.log_probabilities) padded.check(candidates);
}

TEST_CASE("Log-probabilities of serve are over ids without tokens, too, of prompts and of what is written") {
  Padded padded;
  Scheduler scheduler(padded.session, *padded.tokenizer, 1);
  const auto events = std::make_shared<TextEvents>();
  std::vector<ServedText> texts;
  texts.push_back({.request = {{5, 6, 7}, {}},
                   .settings = padded.settings,
                   .log_probabilities = 2,
                   .scores_prompt = true,
                   .events = events});
  REQUIRE(scheduler.submit(std::move(texts)));
  scheduler.run([&] { return scheduler.unfinished() == 0; });
  std::vector<ScoredToken> scored;
  while (const auto event = events->next(std::chrono::steady_clock::now())) {
    CHECK(event->failure == "");
    scored.insert(scored.end(), event->scored.begin(), event->scored.end());
  }
  REQUIRE(scored.size() == 3 + 3);
  CHECK(scored.front().candidates.empty());  // of a prompt's first token
  for (std::size_t i = 1; i < scored.size(); ++i) padded.check(scored[i].candidates);
}
