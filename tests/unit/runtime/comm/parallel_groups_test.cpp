#include "support/catch.hpp"

#include <monomorph/runtime/comm/parallel_groups.hpp>

#include <map>
#include <set>
#include <vector>

using namespace monomorph;

namespace {

using Ranks = std::vector<int>;

}  // namespace

TEST_CASE("without model parallelism all ranks are data-parallel, and each is alone on the other axes") {
  const ParallelGroups groups = parallel_groups(3, 4, {});
  CHECK(groups.data == RankGroup{{0, 1, 2, 3}, 3});
  for (const RankGroup& alone : {groups.tensor, groups.context, groups.stages}) CHECK(alone == RankGroup{{3}, 0});
}

TEST_CASE("ranks that share tensors are neighbours, stages lie furthest apart") {
  const ParallelGroups groups = parallel_groups(13, 24, {.tp = 2, .pp = 3, .cp = 2});  // 13 = 1 + 2 (0 + 2 (1 + 2 1))
  CHECK(groups.tensor == RankGroup{{12, 13}, 1});
  CHECK(groups.context == RankGroup{{13, 15}, 0});
  CHECK(groups.data == RankGroup{{9, 13}, 1});
  CHECK(groups.stages == RankGroup{{5, 13, 21}, 1});
}

TEST_CASE("the groups of an axis divide the world, whatever the mesh is") {
  for (const int tp : {1, 2, 3})
    for (const int cp : {1, 2})
      for (const int pp : {1, 4})
        for (const int dp : {1, 2, 3}) {
          CAPTURE(tp, cp, pp, dp);
          const int size = tp * cp * pp * dp;
          std::map<Ranks, std::multiset<int>> members[4];  // by group, the places of the ranks that say they are of it
          for (int rank = 0; rank < size; ++rank) {
            const ParallelGroups groups = parallel_groups(rank, size, {.tp = tp, .pp = pp, .cp = cp});
            const RankGroup* const axes[] = {&groups.tensor, &groups.context, &groups.data, &groups.stages};
            for (int axis = 0; axis < 4; ++axis) {
              CHECK(axes[axis]->ranks[axes[axis]->rank_in_group] == rank);
              members[axis][axes[axis]->ranks].insert(axes[axis]->rank_in_group);
            }
          }
          const int sizes[] = {tp, cp, dp, pp};
          for (int axis = 0; axis < 4; ++axis) {
            CHECK(members[axis].size() == static_cast<std::size_t>(size / sizes[axis]));
            for (const auto& [ranks, places] : members[axis]) {
              CHECK(ranks.size() == static_cast<std::size_t>(sizes[axis]));
              CHECK(std::set(places.begin(), places.end()).size() == ranks.size());
            }
          }
        }
}

TEST_CASE("of a group's ranks neighbours hold one copy of the parameters together, others the same shard") {
  const RankGroup data{{1, 3, 5, 7}, 2};
  CHECK(shard_group(data, 2) == RankGroup{{5, 7}, 0});
  CHECK(replica_group(data, 2) == RankGroup{{1, 5}, 1});
  CHECK(shard_group(data, 4) == data);
  CHECK(replica_group(data, 1) == data);
}
