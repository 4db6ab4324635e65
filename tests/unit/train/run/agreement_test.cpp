#include "train/run/agreement.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using monomorph::testing::contains;
using monomorph::train::disagreement;
using monomorph::train::RankConfiguration;
using monomorph::train::StartingPoint;

namespace {

const RankConfiguration usual{"abc", R"({"optimizer": {"lr": 0.1}, "run": {"steps": 5}})"};

}  // namespace

TEST_CASE("ranks that are alike agree") { CHECK(disagreement({usual, usual, usual}).empty()); }

TEST_CASE("the rank with another recipe is named, wherever it is") {
  for (const std::size_t odd : {0u, 1u, 2u}) {
    std::vector<RankConfiguration> ranks(3, usual);
    ranks[odd].fingerprint = "xyz";
    const std::string line = disagreement(ranks);
    CHECK(line.starts_with("[RANK-06]"));
    CHECK(contains(line, "rank " + std::to_string(odd)));
    CHECK(contains(line, "xyz"));
    CHECK(contains(line, "abc"));
  }
}

TEST_CASE("the hyperparameter that differs is named with both values") {
  std::vector<RankConfiguration> ranks(4, usual);
  ranks[2].hyperparameters = ranks[3].hyperparameters = R"({"optimizer": {"lr": 0.2}, "run": {"steps": 5}})";
  ranks.push_back(usual);
  const std::string line = disagreement(ranks);
  CHECK(contains(line, "ranks 2, 3"));
  CHECK(contains(line, "optimizer.lr is 0.2 there and 0.1 elsewhere"));
}

TEST_CASE("a rank that would start from another checkpoint is named, be it of the same step") {
  const StartingPoint usual{5, 1};
  CHECK(disagreement(std::vector(3, usual)).empty());
  CHECK(disagreement(std::vector(3, StartingPoint{})).empty());
  for (const StartingPoint other : {StartingPoint{4, 1}, {5, 2}, {}}) {
    const std::string line = disagreement(std::vector{usual, usual, other});
    CHECK(line.starts_with("[RANK-20] rank 2 would start from step " + std::to_string(other.step)));
    CHECK(contains(line, "the others from step 5 (checksum 0000000000000001)"));
  }
}
