#include <monomorph/runtime/comm/parallel_groups.hpp>

namespace monomorph {
namespace {

/// Takes the axes from the one whose ranks are neighbours to the one whose ranks lie furthest apart.
struct NextAxis {
  int rank, stride = 1;
  RankGroup operator()(int n) {
    const int index = rank / stride % n;
    const RankGroup group = group_of(rank - index * stride, stride, n, rank);
    stride *= n;
    return group;
  }
};

}  // namespace

ParallelGroups parallel_groups(int rank, int size, const MeshSpec& mesh) {
  NextAxis next{rank};
  ParallelGroups groups;
  groups.tensor = next(mesh.tp);
  groups.context = next(mesh.cp);
  groups.data = next(size / mesh.model_parallel());
  groups.stages = next(mesh.pp);
  return groups;
}

}  // namespace monomorph
