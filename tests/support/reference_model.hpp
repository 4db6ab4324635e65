#pragma once
#include "support/tensors.hpp"

#include <monomorph/block/sublayer.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/spec/encoder_spec.hpp>
#include <monomorph/spec/low_rank_spec.hpp>
#include <monomorph/spec/mixture_spec.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// The model once more, in fp64 and in plain LibTorch operations under autograd: what the kernels and the hand-written
/// backward passes are compared with. Only dropout masks come from our own kernel, as they are defined by its key.
namespace monomorph::testing {

/// Whether in a block a query sees a key, by their positions in their document.
using Sees = std::function<bool(int block, std::int64_t query, std::int64_t key)>;
inline bool sees_causally(int /*block*/, std::int64_t query, std::int64_t key) { return key <= query; }

/// A layer that is not the model's pre-norm block with a dense MLP.
struct ReferenceLayer {
  DecoderSpec model;
  BlockOrder order = BlockOrder::pre_norm;
  std::optional<MixtureSpec> mixture = std::nullopt;
  std::optional<LowRankSpec> low_rank = std::nullopt;  ///< of adapters, beside products that have parameters of one
};

/// What the loss of a token is besides its cross-entropy.
struct ReferenceTerms {
  double label_smoothing = 0, z_loss = 0;
  double focal_gamma = 0;  ///< of examples/out_of_tree/focal_loss.hpp; 0: none
};

struct ReferenceBatch {
  std::vector<std::int32_t> ids, targets;          ///< rows of context_length; ignored_target counts for nothing
  std::vector<std::int32_t> document_starts = {};  ///< as of a MicroBatch; empty: every row is one document
  const DropoutKey* dropout = nullptr;             ///< seed, step, first sample and tokens; null: dropout is off
  Sees sees = sees_causally;                       ///< any other only without dropout of attention
  std::vector<ReferenceLayer> layers = {};         ///< empty: all are as the model says
  ReferenceTerms terms = {};
};
struct ReferenceResult {
  double loss = 0;            ///< sum over the counted tokens
  Values logits;              ///< (tokens, vocab_size)
  double auxiliary_loss = 0;  ///< of all layers
  Tensors gradients;          ///< of the loss, and of the auxiliary one as often as tokens count
};
ReferenceResult reference_model(const DecoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch);

struct ReferenceHead {
  double loss = 0;  ///< sum over the counted tokens
  Values dweight;
};
/// A head without a norm, of which logits and their gradients are rounded to bf16 as under autocast, and nothing else.
ReferenceHead reference_head_of_bf16_logits(const Values& x, const Values& weight,
                                            const std::vector<std::int32_t>& targets);

struct ReferenceBlock {
  Values y, dx;
  double auxiliary_loss = 0;
  Tensors gradients;
};
/// One block, whose parameters have no "layers.<i>." before their names, applied to x; gradients are those of Σ dy · y,
/// plus the auxiliary loss `counted_tokens` times. Document starts as above.
ReferenceBlock reference_block(const ReferenceLayer& layer, int block, const Tensors& parameters, const Values& x,
                               const Values& dy, const DropoutKey* dropout,
                               const std::vector<std::int32_t>& document_starts = {}, double counted_tokens = 0);

/// How the two sequences of a sample are compared.
struct ReferencePreference {
  std::vector<double> log_probabilities;  ///< of the other model, by sample and sequence
  double beta = 0.1, label_smoothing = 0;
  bool squared = false;
};
struct ReferencePreferences {
  double loss = 0;                        ///< sum over the samples that have both sequences
  std::array<double, 4> metrics{};        ///< the objective's, summed likewise
  std::vector<double> log_probabilities;  ///< of this model
  Tensors gradients;                      ///< of the sum
};
/// A decoder and the objective of preferences: document 0 of a row is what was chosen, document 1 what was rejected.
ReferencePreferences reference_preferences(const DecoderSpec& model, const Tensors& parameters,
                                           const ReferenceBatch& batch, const ReferencePreference& preference);

/// What a student is compared with.
struct ReferenceTeacher {
  Values logits;           ///< (tokens, vocab_size)
  std::string divergence;  ///< forward_kl, reverse_kl or jensen_shannon
  double temperature = 1, teacher_weight = 0.5;
};
struct ReferenceDistilled {
  double loss = 0;                  ///< sum over the counted tokens
  std::array<double, 4> metrics{};  ///< the objective's, summed likewise
  Tensors gradients;                ///< of the sum
};
/// A decoder that learns from a teacher's logits.
ReferenceDistilled reference_distillation(const DecoderSpec& model, const Tensors& parameters,
                                          const ReferenceBatch& batch, const ReferenceTeacher& teacher);

struct ReferencePairs {
  double loss = 0;    ///< sum over the pairs
  double metric = 0;  ///< the objective's own, summed likewise
  Values embeddings;  ///< (samples, 2, E); zeros where there is no text
  Tensors gradients;  ///< of the sum
};
/// An encoder and the contrastive objective. Targets are the numbers of texts, or ignored_target.
ReferencePairs reference_pairs(const EncoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch,
                               double temperature, bool symmetric);
/// The same with the hinge loss of examples/out_of_tree/margin_pairs.hpp.
ReferencePairs reference_margin_pairs(const EncoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch,
                                      double margin);

}  // namespace monomorph::testing
