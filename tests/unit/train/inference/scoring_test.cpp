#include <monomorph/train/inference/scoring.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace {

using namespace monomorph;
using namespace monomorph::train;

constexpr std::int64_t context = 40, vocabulary = 7, row_length = 8;

/// The logits of a token's successor depend on all tokens up to it: the logit of id i is i times their sum, over 50.
float logit_behind(std::int64_t sum, std::int64_t id) { return static_cast<float>(sum * id) / 50; }

/// Keeps the tokens in its pages, and counts what goes through it.
class CountingPass final : public TokenPass {
 public:
  explicit CountingPass(const PassSizes& sizes)
      : sizes_(sizes),
        ids_(static_cast<std::size_t>(sizes.pages * PagedTokens::page)),
        logits_(static_cast<std::size_t>(sizes.wanted * row_length)) {}
  PassSizes sizes() const override { return sizes_; }
  PassLimits limits() const override { return {context, vocabulary}; }
  View run(const NewTokens& tokens) override {
    CHECK(tokens.places.tokens <= sizes_.tokens);
    CHECK(std::ssize(tokens.wanted) <= sizes_.wanted);
    ++n_passes;
    n_tokens += tokens.places.tokens;
    n_wanted += std::ssize(tokens.wanted);
    const auto row = [&](std::int64_t token, std::int64_t place) {
      return static_cast<std::size_t>(tokens.places.row(token, place));
    };
    for (std::int64_t i = 0; i < tokens.places.tokens; ++i)
      ids_.at(row(i, tokens.places.position(i))) = tokens.ids_B[i];
    float* out = logits_.data();
    for (const std::int32_t wanted : tokens.wanted) {
      std::int64_t sum = 0;
      for (std::int64_t place = 0; place <= tokens.places.position(wanted); ++place) sum += ids_.at(row(wanted, place));
      for (std::int64_t id = 0; id < vocabulary; ++id) out[id] = spoilt ? NAN : logit_behind(sum, id);
      out += row_length;
    }
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::fp32, {std::ssize(tokens.wanted), row_length}};
  }

  static inline std::int64_t n_passes, n_tokens, n_wanted;
  static inline bool spoilt;

 private:
  PassSizes sizes_;
  std::vector<std::int32_t> ids_;
  std::vector<float> logits_;
};

Session counting_session(const PassSizes& sizes) {
  CountingPass::n_passes = CountingPass::n_tokens = CountingPass::n_wanted = 0;
  CountingPass::spoilt = false;
  return Session(make_owned<CountingPass>(sizes));
}

/// By the definition: the logarithm of the softmax.
double log_probability(std::span<const std::int32_t> before, std::int32_t id) {
  std::int64_t sum = 0;
  for (const std::int32_t other : before) sum += other;
  double all = 0;
  for (std::int64_t i = 0; i < vocabulary; ++i) all += std::exp(static_cast<double>(logit_behind(sum, i)));
  return logit_behind(sum, id) - std::log(all);
}

std::vector<std::int32_t> counting(std::int32_t from, std::size_t n) {
  std::vector<std::int32_t> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::int32_t>((static_cast<std::size_t>(from) + i * i) % 7);
  return ids;
}
std::vector<std::int32_t> joined(std::vector<std::int32_t> a, const std::vector<std::int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void check_scores(std::span<const TextGroup> groups, const std::vector<GroupScores>& scores) {
  REQUIRE(scores.size() == groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t t = 0; t < groups[g].size(); ++t) {
      const ScoredText& text = groups[g][t];
      REQUIRE(std::ssize(scores[g][t]) == std::ssize(text.ids) - text.first);
      for (std::size_t i = static_cast<std::size_t>(text.first); i < text.ids.size(); ++i)
        CHECK(scores[g][t][i - static_cast<std::size_t>(text.first)] ==
              Approx(log_probability(std::span(text.ids).first(i), text.ids[i])));
    }
}

/// Questions with answers of several lengths, single tokens among them, and texts by themselves.
std::vector<TextGroup> several() {
  std::vector<TextGroup> groups;
  for (std::int32_t g = 0; g < 9; ++g) {
    const auto prompt = counting(g, static_cast<std::size_t>(3 + 4 * g));
    TextGroup& group = groups.emplace_back();
    for (std::int32_t c = 0; c < 4; ++c)
      group.push_back(
          {joined(prompt, counting(c, static_cast<std::size_t>(g % 3 == 0 ? 1 : 1 + c))), std::ssize(prompt)});
  }
  groups.push_back({{counting(1, 41), 1}});
  groups.push_back({{counting(2, 2), 1}});
  groups.push_back({{counting(3, 41), 40}, {counting(4, 40), 2}});  // nothing in common
  return groups;
}

}  // namespace

TEST_CASE("scores are those of the definition, however small passes and cache are") {
  const std::vector<TextGroup> groups = several();
  for (const PassSizes& sizes :
       {PassSizes{2048, 512, 64, 200}, PassSizes{7, 3, 5, 9}, PassSizes{16, 1, 2, 3}, PassSizes{1, 1, 1, 3}}) {
    Session session = counting_session(sizes);
    check_scores(groups, score(session, groups));
    CHECK(session.free_pages() == sizes.pages);
  }
}

TEST_CASE("what the answers to a question have in common goes through the model once") {
  const auto prompt = counting(0, 32);
  const auto asked = [&](std::size_t length) {
    TextGroup group;
    for (std::int32_t c = 0; c < 4; ++c) group.push_back({joined(prompt, counting(c, length)), 32});
    Session session = counting_session({2048, 512, 64, 200});
    score(session, std::vector{group, group});
    return std::vector{CountingPass::n_passes, CountingPass::n_tokens, CountingPass::n_wanted};
  };
  CHECK(asked(1) == std::vector<std::int64_t>{1, 2 * 32, 2});  // one token each: the same logits
  CHECK(asked(3) == std::vector<std::int64_t>{2, 2 * (32 + 4 * 2), 2 * (1 + 4 * 2)});  // two pages are shared
}

TEST_CASE("texts that don't fit are refused, and so are logits that are no numbers") {
  Session session = counting_session({8, 8, 2, 6});
  CHECK_THROWS_AS(score(session, std::vector<TextGroup>{{{counting(0, 42), 1}}}), std::logic_error);
  CHECK_THROWS_AS(score(session, std::vector<TextGroup>{{{counting(0, 4), 4}}}), std::logic_error);
  CHECK_THROWS_AS(score(session, std::vector<TextGroup>{{{counting(0, 4), 0}}}), std::logic_error);
  CountingPass::spoilt = true;
  CHECK(monomorph::testing::contains(monomorph::testing::error_of([&] {
                                       score(session, std::vector<TextGroup>{{{counting(0, 4), 1}}});
                                     }),
                                     "[RUN-14]"));
}

TEST_CASE("windows score every token but the first once, with as much before it as the stride leaves") {
  for (const std::int64_t n : {2, 40, 41, 42, 100, 333})
    for (const std::int64_t stride : {1, 7, 20, 40}) {
      const auto ids = counting(0, static_cast<std::size_t>(n));
      std::int64_t scored = 1;
      TextWindows windows(ids, context, stride);
      while (const auto window = windows.next()) {
        CHECK(std::ssize(window->ids) <= context + 1);
        CHECK(window->first >= std::min(scored, context + 1 - stride));
        const auto n_scored = std::ssize(window->ids) - window->first;
        CHECK(n_scored > 0);
        CHECK(std::equal(window->ids.begin(), window->ids.end(), ids.begin() + scored - window->first));
        scored += n_scored;
      }
      CHECK(scored == n);
    }
  const auto alone = counting(0, 1);
  CHECK_FALSE(TextWindows(alone, context, 1).next());
}
