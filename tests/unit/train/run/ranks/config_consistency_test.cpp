#include "train/run/ranks/config_consistency.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using monomorph::testing::contains;
using monomorph::train::CheckpointIdentity;
using monomorph::train::describe_mismatch;
using monomorph::train::RankConfig;

namespace {

const RankConfig usual{"abc", R"({"optimizer": {"lr": 0.1}, "run": {"steps": 5}})"};

}  // namespace

TEST_CASE("ranks that are alike agree") { CHECK(describe_mismatch({usual, usual, usual}).empty()); }

TEST_CASE("the rank with another recipe is named, wherever it is") {
  for (const std::size_t odd : {0u, 1u, 2u}) {
    std::vector<RankConfig> ranks(3, usual);
    ranks[odd].fingerprint = "xyz";
    const std::string line = describe_mismatch(ranks);
    CHECK(line.starts_with("rank " + std::to_string(odd) + " runs a recipe with fingerprint"));
    CHECK(contains(line, "xyz"));
    CHECK(contains(line, "abc"));
  }
}

TEST_CASE("the hyperparameter that differs is named with both values") {
  std::vector<RankConfig> ranks(4, usual);
  ranks[2].hyperparameters = ranks[3].hyperparameters = R"({"optimizer": {"lr": 0.2}, "run": {"steps": 5}})";
  ranks.push_back(usual);
  const std::string line = describe_mismatch(ranks);
  CHECK(contains(line, "ranks 2, 3"));
  CHECK(contains(line, "optimizer.lr is 0.2 there and 0.1 elsewhere"));
}

TEST_CASE("a rank that would start from another checkpoint is named, be it of the same step") {
  const CheckpointIdentity usual{5, 1};
  CHECK(describe_mismatch(std::vector(3, usual)).empty());
  CHECK(describe_mismatch(std::vector(3, CheckpointIdentity{})).empty());
  for (const CheckpointIdentity other : {CheckpointIdentity{4, 1}, {5, 2}, {}}) {
    const std::string line = describe_mismatch(std::vector{usual, usual, other});
    CHECK(line.starts_with("rank 2 would start from step " + std::to_string(other.step)));
    CHECK(contains(line, "the others from step 5 (checksum 0000000000000001)"));
  }
}
