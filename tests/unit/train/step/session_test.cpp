// Sequences that share pages of a cache, over a pass that only notes what it is given.
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/train/step/session.hpp>

#include <stdexcept>

using namespace monomorph;
using namespace monomorph::train;

namespace {

constexpr std::int64_t context_length = 100, vocab_size = 50;

/// Keeps in its cache the tokens themselves; the logits of a token are the sum of all up to it, at id 0.
class SummingPass final : public TokenPass {
 public:
  explicit SummingPass(const PassSizes& sizes)
      : sizes_(sizes),
        cache_(static_cast<std::size_t>(sizes.pages * PagedTokens::page)),
        logits_(static_cast<std::size_t>(sizes.wanted * 64)) {}
  PassSizes sizes() const override { return sizes_; }
  PassLimits limits() const override { return {context_length, vocab_size}; }
  View run(const NewTokens& tokens) override {
    const PagedTokens& places = tokens.places;
    passes.push_back(places.tokens);
    from_beginning.push_back(places.from_beginning);
    for (std::int64_t i = 0; i < places.tokens; ++i) cache_.at(row(places, i, places.position(i))) = tokens.ids_B[i];
    std::size_t at = 0;
    for (const std::int32_t wanted : tokens.wanted) {
      float sum = 0;
      for (std::int64_t place = 0; place <= places.position(wanted); ++place)
        sum += static_cast<float>(cache_.at(row(places, wanted, place)));
      logits_[64 * at++] = sum;
    }
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::fp32, {std::ssize(tokens.wanted), 64}};
  }

  static inline std::vector<std::int64_t> passes;
  static inline std::vector<bool> from_beginning;

 private:
  static std::size_t row(const PagedTokens& places, std::int64_t token, std::int64_t place) {
    return static_cast<std::size_t>(places.row(token, place));
  }
  PassSizes sizes_;
  std::vector<std::int32_t> cache_;
  std::vector<float> logits_;
};

Session session(const PassSizes& sizes) {
  SummingPass::passes.clear(), SummingPass::from_beginning.clear();
  return Session(make_owned<SummingPass>(sizes));
}
std::vector<std::int32_t> ones(std::size_t n) { return std::vector<std::int32_t>(n, 1); }

}  // namespace

TEST_CASE("a session reads a prompt in chunks, and asks for logits behind its last token alone") {
  Session s = session({.tokens = 30, .wanted = 1, .sequences = 1, .pages = pages_of(context_length)});
  const int sequence = s.open();
  const Logits logits = s.prefill(sequence, ones(70));
  CHECK(logits.size() == vocab_size);
  CHECK(logits[0] == 70);
  CHECK(SummingPass::passes == std::vector<std::int64_t>{30, 30, 10});
  CHECK(SummingPass::from_beginning == std::vector<bool>{true, false, false});
  CHECK(s.prefill(sequence, ones(30))[0] == 100);
  CHECK(s.length(sequence) == context_length);
  CHECK_THROWS_AS(s.prefill(sequence, ones(1)), std::logic_error);
}

TEST_CASE("sequences of unequal lengths grow together, each in its own pages") {
  Session s = session({.tokens = 100, .wanted = 3, .sequences = 3, .pages = 7});
  const int a = s.open(), b = s.open(), c = s.open();
  CHECK(s.prefill(a, ones(40))[0] == 40);
  CHECK(s.prefill(b, ones(1))[0] == 1);
  CHECK(s.prefill(c, ones(17))[0] == 17);
  CHECK(s.free_pages() == 7 - 3 - 1 - 2);
  const std::vector<int> all{c, a, b};
  for (int i = 1; i <= 8; ++i) {
    const auto logits = s.decode(all, std::vector<std::int32_t>{2, 3, 4});
    CHECK(logits[0][0] == 17 + 2 * i);
    CHECK(logits[1][0] == 40 + 3 * i);
    CHECK(logits[2][0] == 1 + 4 * i);
  }
  CHECK_FALSE(SummingPass::from_beginning.back());

  s.close(a);
  CHECK(s.free_pages() == 4);
  const int d = s.open();
  CHECK(s.prefill(d, ones(60))[0] == 60);  // in the pages of a sequence that is no more, and one of nobody's
  CHECK(s.free_pages() == 0);
  CHECK(s.decode(std::vector<int>{b, d}, std::vector<std::int32_t>{0, 0})[0][0] == 33);
  CHECK_THROWS_AS(s.prefill(b, ones(40)), std::logic_error);
}

TEST_CASE("a sequence's second token beside a longer one does not make a beginning of it") {
  Session s = session({.tokens = 4, .wanted = 3, .sequences = 3, .pages = 3});
  const int a = s.open(), b = s.open();
  s.prefill(a, ones(1));
  const auto logits = s.decode(std::vector<int>{b, a}, std::vector<std::int32_t>{5, 6});
  CHECK(logits[0][0] == 5);
  CHECK(logits[1][0] == 7);
  CHECK(SummingPass::from_beginning == std::vector<bool>{true, false});
}

TEST_CASE("a token outside the vocabulary is refused before anything is added") {
  Session s = session({.tokens = 10, .wanted = 1, .sequences = 1, .pages = 2});
  const int sequence = s.open();
  s.prefill(sequence, ones(3));
  for (const std::int32_t wrong : {-1, 50})
    CHECK(monomorph::testing::error_of([&] {
            s.prefill(sequence, std::vector<std::int32_t>{1, wrong});
          }).find("[KERNEL-01]") != std::string::npos);
  CHECK(s.length(sequence) == 3);
  CHECK(s.prefill(sequence, ones(1))[0] == 4);
}

TEST_CASE("a session has as many sequences as it was planned for") {
  Session s = session({.tokens = 10, .wanted = 1, .sequences = 2, .pages = 2});
  const int a = s.open();
  s.open();
  CHECK_THROWS_AS(s.open(), std::logic_error);
  s.close(a);
  CHECK(s.open() == a);
  CHECK(s.length(a) == 0);
}

TEST_CASE("a sequence that begins with whole pages of another shares them until both are closed") {
  Session session = ::session({.tokens = 64, .wanted = 4, .sequences = 3, .pages = 6});
  const int first = session.open();
  session.prefill(first, ones(40));
  const int second = session.fork(first, 32);
  CHECK(session.length(second) == 32);
  CHECK(session.free_pages() == 3);
  CHECK_THROWS_AS(session.fork(first, 33), std::logic_error);
  CHECK_THROWS_AS(session.fork(first, 48), std::logic_error);
  const std::vector<std::int32_t> twos(20, 2);
  CHECK(session.prefill(second, twos)[0] == 32 + 40);
  CHECK(session.prefill(first, ones(1))[0] == 41);  // its own last page is its own
  session.close(first);
  CHECK(session.free_pages() == 2);  // two of its three are still shared
  CHECK(session.prefill(second, ones(1))[0] == 32 + 40 + 1);
  session.close(second);
  CHECK(session.free_pages() == 6);
}

TEST_CASE("sequences are extended together, with logits of the last tokens of each that are wanted") {
  Session session = ::session({.tokens = 12, .wanted = 4, .sequences = 2, .pages = 2});
  const int first = session.open(), second = session.open();
  const auto tokens = ones(5);
  const std::vector<Session::Addition> both{{first, tokens, 2}, {second, tokens, 1}};
  const auto logits = session.extend(both);
  REQUIRE(logits.size() == 3);
  CHECK(logits[0][0] == 4);
  CHECK(logits[1][0] == 5);
  CHECK(logits[2][0] == 5);
  CHECK(SummingPass::passes == std::vector<std::int64_t>{10});
  const std::vector<Session::Addition> too_many{{first, tokens, 5}};
  CHECK_THROWS_AS(session.extend(too_many), std::logic_error);
}
