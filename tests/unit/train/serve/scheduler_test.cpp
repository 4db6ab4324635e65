// Which texts get tokens when, however many others are asked for at the same time.
#include "train/serve/scheduler.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "told_pass.hpp"

#include <limits>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::contains, monomorph::testing::ToldPass;

namespace {

/// What a text is to be.
struct Asked {
  std::size_t prompt_tokens;
  std::int64_t most_tokens;
  bool scores_prompt = false;
};

/// A scheduler whose passes say what they are given, and may have more asked for meanwhile, as clients do.
struct Work {
  std::function<void()> while_pass_runs = [] {};
  std::vector<std::int64_t> passes;  ///< new tokens of each
  std::unique_ptr<const data::Tokenizer> tokenizer =
      data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/chat/tokenizer.json");
  Session session{make_owned<ToldPass>(tokenizer->vocab_size(), [this](std::int64_t n_tokens) {
    passes.push_back(n_tokens);
    while_pass_runs();
  })};
  Scheduler scheduler{session, *tokenizer, 100'000};

  std::shared_ptr<TextEvents> submit(const Asked& asked) {
    auto events = std::make_shared<TextEvents>();
    std::vector<ServedText> texts;
    texts.push_back({.request = {std::vector<std::int32_t>(asked.prompt_tokens, 5), {}},
                     .settings = {.max_tokens = asked.most_tokens, .sampling = {.temperature = 0}},
                     .log_probabilities = std::nullopt,
                     .scores_prompt = asked.scores_prompt,
                     .events = events});
    REQUIRE(scheduler.submit(std::move(texts)));
    return events;
  }
  /// While a pass runs, as many are asked for as can begin in the next one; but not without end, where one that is
  /// wrong would wait for them.
  void ask_without_end(const Asked& asked) {
    while_pass_runs = [this, asked] {
      if (passes.size() > 2000) return;
      for (std::int64_t i = 0; i < ToldPass::sequences; ++i) submit(asked);
    };
    while_pass_runs();
  }
};

std::int64_t drawn_by_now(TextEvents& events) {
  std::int64_t sum = 0;
  while (const auto event = events.next(std::chrono::steady_clock::now())) {
    CHECK(event->failure == "");
    sum += event->drawn;
  }
  return sum;
}

/// Texts that are done at once: a prompt that is scored and nothing more, a single token, or both.
constexpr Asked done_at_once[] = {{3, 0, true}, {3, 1, false}, {3, 1, true}};

}  // namespace

TEST_CASE("a text that runs gets a token in each pass, although texts that are done at once wait without end") {
  for (const Asked& asked : done_at_once) {
    CAPTURE(asked.most_tokens, asked.scores_prompt);
    Work work;
    const auto growing = work.submit({2, 30});
    work.ask_without_end(asked);
    std::int64_t drawn = 0, n_looks = 0;
    work.scheduler.run([&] {
      const std::int64_t more = drawn_by_now(*growing);
      if (n_looks++ > 0) CHECK(more >= 1);
      drawn += more;
      return drawn == 30;
    });
    CHECK(n_looks <= 31);
    CHECK(work.passes.size() < 30 * (ToldPass::sequences + 1));
    CHECK(work.scheduler.unfinished() > 0);
  }
}

TEST_CASE("whoever ends a scheduler's work is heard, although texts that are done at once wait without end") {
  for (const Asked& asked : done_at_once) {
    CAPTURE(asked.most_tokens, asked.scores_prompt);
    Work work;
    work.ask_without_end(asked);
    int n_looks = 0;
    work.scheduler.run([&] { return ++n_looks == 4; });
    CHECK(work.passes.size() <= 3 * ToldPass::sequences);
    CHECK(work.scheduler.unfinished() > 0);
    work.scheduler.fail_all("the server ends");
    CHECK(work.scheduler.unfinished() == 0);
  }
}

TEST_CASE("between two tokens of a text that runs as many prompts begin as fit a pass, or one that is longer") {
  Work work;
  const auto growing = work.submit({2, 10});
  for (const std::size_t prompt_tokens : {10, 10, 40, 3}) work.submit({prompt_tokens, 1});
  work.scheduler.run([&] { return work.scheduler.unfinished() == 0; });
  CHECK(work.passes == std::vector<std::int64_t>{2 + 10, 1, 10, 1, 16, 16, 8, 1, 3, 1, 1, 1, 1, 1, 1});
  CHECK(drawn_by_now(*growing) == 10);
}

TEST_CASE("texts that nobody waits for leave room in the queue, and are not begun") {
  Work work;
  Scheduler scheduler(work.session, *work.tokenizer, 2);
  const auto submits = [&] {
    auto events = std::make_shared<TextEvents>();
    std::vector<ServedText> texts;
    texts.push_back(
        {.request = {{5}, {}}, .settings = {.max_tokens = 1}, .log_probabilities = std::nullopt, .events = events});
    return scheduler.submit(std::move(texts)) ? events : nullptr;
  };
  const auto first = submits(), second = submits();
  REQUIRE(second);
  CHECK(!submits());
  second->abandon();
  CHECK(submits());
  CHECK(!submits());
  CHECK(scheduler.unfinished() == 2);
}

TEST_CASE("a prompt that a model whose training diverged is to score fails, whether something is written or not") {
  for (const std::int64_t max_tokens : {0, 1}) {
    CAPTURE(max_tokens);
    Work work;
    Session diverged{make_owned<ToldPass>(
        work.tokenizer->vocab_size(), [](std::int64_t) {}, std::numeric_limits<float>::quiet_NaN())};
    Scheduler scheduler(diverged, *work.tokenizer, 1);
    const auto events = std::make_shared<TextEvents>();
    std::vector<ServedText> texts;
    texts.push_back({.request = {{5, 6, 7}, {}},
                     .settings = {.max_tokens = max_tokens},
                     .log_probabilities = 0,
                     .scores_prompt = true,
                     .events = events});
    REQUIRE(scheduler.submit(std::move(texts)));
    scheduler.run([&] { return scheduler.unfinished() == 0; });
    const auto event = events->next(std::chrono::steady_clock::now());
    REQUIRE(event);
    CHECK(contains(event->failure, "the model's logits are not finite"));
    CHECK_FALSE(events->next(std::chrono::steady_clock::now()));
  }
}

TEST_CASE("a prompt that is only given back needs no pass") {
  Work work;
  const auto given_back = work.submit({40, 0});
  work.scheduler.run([&] { return work.scheduler.unfinished() == 0; });
  CHECK(work.passes.empty());
  const auto event = given_back->next(std::chrono::steady_clock::now());
  REQUIRE(event);
  CHECK(event->finish == FinishReason::length);
  CHECK(event->scored.empty());
}
