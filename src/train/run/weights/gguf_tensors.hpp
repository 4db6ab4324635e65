#pragma once
#include "train/run/weights/gguf_architecture.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "train/weights/written_numbers.hpp"

#include <monomorph/runtime/files/gguf.hpp>

#include <vector>

namespace monomorph::train {

/// A checkpoint's parameters as llama.cpp's tensors, in the order of their names, whose bytes are read when they are
/// written.
/// @param matrices their dtype; vectors, routers and learned positions are in fp32, as llama.cpp computes with them
/// @param weights must outlive the tensors, and so must `written`, which is told of them   @throws UsageError [GGUF-01]
/// there is no tensor for one of them
std::vector<runtime::GgufTensor> gguf_tensors(const RecipeProgram& recipe, const GgufArchitecture& architecture,
                                              CheckpointWeights& weights, DType matrices, WrittenNumbers& written);

}  // namespace monomorph::train
