#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/collectives_check.hpp>

#include "support/catch.hpp"
#include "support/communicators.hpp"
#include "support/ranks.hpp"

#include <map>
#include <mutex>

namespace monomorph::testing {
namespace {

enum class Spoils { nothing, gathers, reductions };

/// A communicator that gets one number wrong.
class SpoiltCommunicator final : public ForwardingCommunicator {
 public:
  SpoiltCommunicator(Communicator& right, Spoils spoils) : ForwardingCommunicator(right), spoils_(spoils) {}

 private:
  void start_all_gather(std::span<const UnitGather> units) override {
    communicator().all_gather(units);
    if (spoils_ == Spoils::gathers) result_ = units.back().unsharded;
  }
  void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override {
    communicator().reduce_scatter(unit, unsharded, shard, reduction);
    if (spoils_ == Spoils::reductions) result_ = shard;
  }
  void finish(int unit) override {
    communicator().wait(unit);
    if (result_.present()) result_.as<float>()[result_.elements() - 1] += 1;
  }

  Spoils spoils_;
  View result_;
};

struct Found {
  std::map<int, std::string> errors;  ///< by rank
  CollectivesCheck of_rank_0;
};

Found check_with_spoilt_rank(int ranks, int shards, int spoilt, Spoils spoils) {
  Found found;
  std::mutex mutex;
  with_ranks(ranks, [&](const World& world) {
    const auto right = world.communicator(shards, DType::bf16);
    SpoiltCommunicator communicator(*right, world.rank() == spoilt ? spoils : Spoils::nothing);
    try {
      const CollectivesCheck check = check_collectives(communicator, dynamic_cast<CheckedCommunicator&>(*right));
      if (world.rank() == 0) found.of_rank_0 = check;
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      found.errors[world.rank()] = error.what();
    }
  });
  return found;
}

}  // namespace

TEST_CASE("every collective is tried in every group of ranks, and messages between all pairs") {
  const Found found = check_with_spoilt_rank(4, 2, 0, Spoils::nothing);
  CHECK(found.errors.empty());
  std::vector<std::pair<std::string, std::vector<int>>> tried;
  for (const CollectiveMeasure& measure : found.of_rank_0.collectives) {
    tried.emplace_back(measure.what, measure.ranks);
    CHECK(measure.bytes_per_second > 0);
  }
  CHECK(tried == decltype(tried){{"gather of parameters", {0, 1}},
                                 {"gather of parameters", {2, 3}},
                                 {"reduction of gradients", {0, 1}},
                                 {"reduction of gradients", {2, 3}},
                                 {"the same, then with replicas", {0, 2}},
                                 {"the same, then with replicas", {1, 3}}});
  CHECK(found.of_rank_0.slowest.bytes_per_second <= found.of_rank_0.fastest.bytes_per_second);
}

TEST_CASE("a rank whose gather or sum is wrong is named, and the others end with it") {
  for (const auto& [ranks, shards, spoils] : {std::tuple(2, 2, Spoils::gathers),
                                              {2, 2, Spoils::reductions},
                                              {2, 1, Spoils::reductions},
                                              {4, 2, Spoils::reductions}}) {
    CAPTURE(ranks, shards);
    Found found = check_with_spoilt_rank(ranks, shards, 1, spoils);
    REQUIRE(found.errors.size() == static_cast<std::size_t>(ranks));
    CHECK(found.errors[1].starts_with("[RANK-13]"));
    CHECK(found.errors[1].find("rank 1 wrong numbers") != std::string::npos);
    CHECK(found.errors[0].starts_with("[RANK-08] rank 1"));
  }
}

}  // namespace monomorph::testing
