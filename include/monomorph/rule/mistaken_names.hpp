#pragma once

/// Names that are no member of a recipe but meant for one, and further from it than a slip (rule/near_miss_names.hpp):
/// what other systems call it, words of the same root, and errors of two letters that people make. X(name) is expanded
/// for each.

// clang-format off
#define MONOMORPH_MISTAKEN_NAMES_MODEL(X) \
  X(Model) X(model_spec) X(modelspec) X(moddle)
#define MONOMORPH_MISTAKEN_NAMES_SHARDING(X) \
  X(Sharding) X(shard) X(shards) X(sharded) X(shard_strategy) X(sharding_strategy) X(strategy) X(parallelism) \
  X(parallel) X(fsdp) X(schading)
#define MONOMORPH_MISTAKEN_NAMES_PRECISION(X) \
  X(Precision) X(dtype) X(mixed_precision) X(presicion) X(persicion) X(percission) X(presission) X(presition) X(percison)
#define MONOMORPH_MISTAKEN_NAMES_CHECKPOINTING(X) \
  X(Checkpointing) X(activation_checkpointing) X(activation_checkpoint) X(gradient_checkpointing) X(checkpoint) \
  X(checkpoints) X(checkpointed) X(check_pointing) X(chekpoiting) X(recompute)
#define MONOMORPH_MISTAKEN_NAMES_OPTIMIZER(X) \
  X(Optimizer) X(optim) X(optimisers) X(optimisor) X(optimizors) X(optimization) X(optimisation) X(optmiser) X(optimzers)
#define MONOMORPH_MISTAKEN_NAMES_OBJECTIVE(X) \
  X(Objective) X(loss) X(loss_function) X(objectif) X(objektiv) X(objetives)
#define MONOMORPH_MISTAKEN_NAMES_ATTENTION(X) \
  X(Attention) X(attn) X(attention_mask) X(attention_policy) X(document_mask) X(masking) X(atension)
#define MONOMORPH_MISTAKEN_NAMES_MESH(X) \
  X(Mesh) X(meshes) X(mesh_spec) X(meshspec) X(device_mesh)
#define MONOMORPH_MISTAKEN_NAMES_LAYERS(X) \
  X(Layers) X(blocks) X(block) X(stack)
#define MONOMORPH_MISTAKEN_NAMES_BUDGET(X) \
  X(Budget) X(memory_budget) X(budgeting) X(budjets)
#define MONOMORPH_MISTAKEN_NAMES_EXPECT(X) \
  X(Expect) X(expected) X(expectation) X(expectations) X(expecting) X(except)

#define MONOMORPH_MISTAKEN_NAMES(X) \
  MONOMORPH_MISTAKEN_NAMES_MODEL(X) MONOMORPH_MISTAKEN_NAMES_SHARDING(X) MONOMORPH_MISTAKEN_NAMES_PRECISION(X) \
  MONOMORPH_MISTAKEN_NAMES_CHECKPOINTING(X) MONOMORPH_MISTAKEN_NAMES_OPTIMIZER(X) \
  MONOMORPH_MISTAKEN_NAMES_OBJECTIVE(X) MONOMORPH_MISTAKEN_NAMES_ATTENTION(X) MONOMORPH_MISTAKEN_NAMES_MESH(X) \
  MONOMORPH_MISTAKEN_NAMES_LAYERS(X) MONOMORPH_MISTAKEN_NAMES_BUDGET(X) MONOMORPH_MISTAKEN_NAMES_EXPECT(X)
// clang-format on
