#include <monomorph/train/step/check_batch.hpp>

#include <monomorph/core/ignored_target.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::contains, monomorph::testing::error_of;

constexpr BatchLimits limits{
    .rows = 2, .tokens = 4, .vocab_size = 7, .texts = 0, .sequences = 0, .wants_document_starts = true};

struct Batch {
  std::vector<std::int32_t> inputs{0, 1, 2, 3, 4, 5, 6, 0}, targets{ignored_target, 6, 0, 1, 2, 3, 4, 5},
      starts{0, 0, 0, 0, 0, 1, 2, 3};
  MicroBatch micro_batch() const {
    return {inputs.data(), targets.data(), 0, starts.empty() ? nullptr : starts.data()};
  }
};
std::string refusal_of(const Batch& batch, const BatchLimits& of = limits) {
  return error_of([&] { check_batch(batch.micro_batch(), of); });
}

}  // namespace

TEST_CASE("a batch whose ids all exist is taken") {
  CHECK(refusal_of({}) == "(no error)");
  CHECK(refusal_of({.starts = {0, 1, 1, 3, 0, 0, 2, 2}}) == "(no error)");
}

TEST_CASE("tokens and targets outside of the vocabulary are errors that name them and their row") {
  for (const std::int32_t bad : {7, -2, -1, 2'000'000'000}) {
    CAPTURE(bad);
    Batch input, target;
    input.inputs[5] = target.targets[7] = bad;
    CHECK(contains(refusal_of(input), "[KERNEL-01] token id " + std::to_string(bad) +
                                          " (row 1 of the batch) is outside the vocabulary of 7"));
    const std::string refused = refusal_of(target);
    if (bad == ignored_target)
      CHECK(refused == "(no error)");
    else
      CHECK(contains(refused, "[KERNEL-02] target id " + std::to_string(bad) + " (row 1 of the batch) is outside"));
    CHECK(contains(error_of([&] { check_token(bad, 7); }), "[KERNEL-01]"));
  }
  CHECK(error_of([] { check_token(6, 7); }) == "(no error)");
}

TEST_CASE("where texts are compared, targets are numbers of texts") {
  BatchLimits of_pairs = limits;
  of_pairs.texts = 2;
  Batch batch{.targets = {0, 0, 1, ignored_target, 1, 1, 0, 0}};
  CHECK(refusal_of(batch, of_pairs) == "(no error)");
  batch.targets[4] = 2;
  CHECK(contains(refusal_of(batch, of_pairs),
                 "[KERNEL-07] row 1 of the batch has a token of text 2, and the objective "
                 "compares 2 texts"));
}

TEST_CASE("where sequences are compared, there must be something to compare them with") {
  BatchLimits of_sequences = limits;
  of_sequences.sequences = 2;
  CHECK(contains(refusal_of({}, of_sequences), "[KERNEL-09]"));
}

TEST_CASE("document starts that are none are an error that names row and token") {
  CHECK(contains(refusal_of({.starts = {}}), "[KERNEL-04]"));
  for (const std::vector<std::int32_t>& bad : {std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 3, 3},  // in the future
                                               {0, 0, 0, 0, 0, 1, 0, 0},     // back in a document that has ended
                                               {0, 0, 0, 0, 0, 1, -1, 3},    // before the row
                                               {0, 0, 0, 0, 0, 0, 1, 1}}) {  // begun without its first token
    const std::string refused = refusal_of({.starts = bad});
    CHECK(contains(refused, "[KERNEL-03]"));
    CHECK(contains(refused, "row 1 of the batch"));
    CHECK(contains(refused, "for token 2,"));
  }
  CHECK(contains(refusal_of({.starts = {1, 1, 1, 1, 0, 0, 0, 0}}), "row 0 of the batch has 1 for token 0,"));
  BatchLimits plain = limits;
  plain.wants_document_starts = false;
  CHECK(refusal_of({.starts = {}}, plain) == "(no error)");
  CHECK(contains(refusal_of({.starts = {1, 1, 1, 1, 0, 0, 0, 0}}, plain), "[KERNEL-03]"));  // given, so read
}
