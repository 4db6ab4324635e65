#include <monomorph/train/inference/retrieval.hpp>

#include "support/catch.hpp"

using namespace monomorph::train;

namespace {

/// Pairs of unit vectors in the plane: the second text of pair i stands where `places` says, the first one at place i.
PairEmbeddings pairs_at(const std::vector<int>& places) {
  PairEmbeddings pairs{.width = static_cast<std::int64_t>(places.size())};
  const auto row = [&](std::vector<float>& rows, int place) {
    for (int i = 0; i < static_cast<int>(places.size()); ++i) rows.push_back(i == place ? 1.0f : 0.0f);
  };
  for (int i = 0; i < static_cast<int>(places.size()); ++i) {
    row(pairs.first, i);
    row(pairs.second, places[static_cast<std::size_t>(i)]);
  }
  return pairs;
}

}  // namespace

TEST_CASE("a text that is nearer than all others has rank 1, and equal ones count as nearer") {
  const RetrievalScores all = retrieval_scores(pairs_at({0, 1, 2, 3}));
  CHECK(all.recall_at_1 == 1);
  CHECK(all.mean_reciprocal_rank == 1);
  // 0 and 1 are exchanged: one other text is nearer, and two are as near, so that both have rank 4.
  const RetrievalScores exchanged = retrieval_scores(pairs_at({1, 0, 2, 3}));
  CHECK(exchanged.recall_at_1 == 0.5);
  CHECK(exchanged.recall_at_10 == 1);
  CHECK(exchanged.mean_reciprocal_rank == Approx((1 + 1 + 0.25 + 0.25) / 4));
}

TEST_CASE("an encoder that makes the same embedding of every text finds nothing") {
  const PairEmbeddings same{.width = 2,
                            .first = std::vector<float>(600, 0.5f),
                            .second = std::vector<float>(600, 0.5f)};
  const RetrievalScores scores = retrieval_scores(same);
  CHECK(same.count() == 300);
  CHECK(scores.recall_at_1 == 0);
  CHECK(scores.recall_at_10 == 0);
  CHECK(scores.mean_reciprocal_rank == Approx(1.0 / 300));
}

TEST_CASE("chance finds one of n at first, and has the mean of reciprocal ranks") {
  const RetrievalScores scores = chance_scores(4);
  CHECK(scores.recall_at_1 == 0.25);
  CHECK(scores.recall_at_10 == 1);
  CHECK(scores.mean_reciprocal_rank == Approx((1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4));
  CHECK(chance_scores(100).recall_at_10 == Approx(0.1));
}
