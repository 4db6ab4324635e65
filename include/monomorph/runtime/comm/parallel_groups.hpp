#pragma once
#include <monomorph/runtime/comm/rank_group.hpp>
#include <monomorph/spec/mesh_spec.hpp>

namespace monomorph {

/// The groups that a rank belongs to, one for each axis of the mesh. Those that share tensors are neighbours, as they
/// exchange activations several times a block and are best on one machine; those that share a context come next, then
/// copies of the model, which exchange gradients once a step, and the stages of a pipeline, which exchange the least,
/// lie furthest apart (the order of Narayanan et al. 2021, "Efficient large-scale language model training on GPU
/// clusters using Megatron-LM", section 3):
///
///   rank = tensor + tp (context + cp (data + dp stage))
struct ParallelGroups {
  RankGroup tensor, context, data, stages;
};

/// @param size ranks of the world: a multiple of mesh.model_parallel()
ParallelGroups parallel_groups(int rank, int size, const MeshSpec& mesh);

}  // namespace monomorph
