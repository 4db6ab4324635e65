#pragma once
#include "support/tensors.hpp"

#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/spec/model_spec.hpp>

#include <cstdint>
#include <functional>
#include <vector>

/// The model once more, in fp64 and in plain LibTorch operations under autograd: what the kernels and the hand-written
/// backward passes are compared with. Only dropout masks come from our own kernel, as they are defined by its key.
namespace monomorph::testing {

/// Whether in a block a query sees a key, by their positions in their document.
using Sees = std::function<bool(int block, std::int64_t query, std::int64_t key)>;
inline bool sees_causally(int /*block*/, std::int64_t query, std::int64_t key) { return key <= query; }

struct ReferenceBatch {
  std::vector<std::int32_t> ids, targets;          ///< rows of context_length; ignored_target counts for nothing
  std::vector<std::int32_t> document_starts = {};  ///< as of a MicroBatch; empty: every row is one document
  const kernels::DropoutKey* dropout = nullptr;    ///< seed, step, first sample and tokens; null: dropout is off
  Sees sees = sees_causally;                       ///< any other only without dropout of attention
};
struct ReferenceResult {
  double loss = 0;    ///< sum over the counted tokens
  Values logits;      ///< (tokens, vocab_size)
  Tensors gradients;  ///< of the sum
};
ReferenceResult reference_model(const ModelSpec& model, const Tensors& parameters, const ReferenceBatch& batch);

struct ReferenceBlock {
  Values y, dx;
  Tensors gradients;
};
/// One block, whose parameters have no "layers.<i>." before their names, applied to x; gradients are those of Σ dy · y.
/// Document starts as above.
ReferenceBlock reference_block(const ModelSpec& model, int block, const Tensors& parameters, const Values& x,
                               const Values& dy, const kernels::DropoutKey* dropout,
                               const std::vector<std::int32_t>& document_starts = {});

}  // namespace monomorph::testing
