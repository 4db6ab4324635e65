#pragma once
#include <cstdint>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/cuda/update_queue.hpp>
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/distillation.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/kernels/expert_products.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/kernels/routing.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/kernels/sequences.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/rotary_spec.hpp>
#include <span>

/// Kernels on GPUs, each with the contract of the kernel of its name on CPUs (runtime/kernels). Those that compute each
/// element by itself have the bits of the CPU's instruction set `generic`, which fuses nothing; activations of 16 bits
/// are within a rounding of them. Views lie in the GPU's memory; ids and places where documents begin lie in
/// the host's, and are copied when the kernel is called; where it is recorded, before each time that it runs, for which
/// they and the settings of a step must stay where they are (runtime/cuda/recording.hpp).
/// @throws Error [KERNEL-05] CUDA does not start one
namespace monomorph::cuda {

// Kernels that work element by element.
void copy(Queue queue, View from, View to);
void zero(Queue queue, View x);
void add(Queue queue, View x, View y);
void scale(Queue queue, View x, double a, View y);
void scale_and_add(Queue queue, View x, double a, View y, double b);
void soft_cap(Queue queue, View x, double cap, View y);
void soft_cap_backward(Queue queue, View y, View dy, double cap, View dx);
void fill(Queue queue, View x, double value);
void fill_normal(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double std, double cutoff);
void fill_uniform(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double half_width);
void dropout(Queue queue, View x_MD, View y_MD, const DropoutKey& key);
void dropout_add(Queue queue, View x_MD, View residual_MD, View y_MD, const DropoutKey& key);

/// Of a matrix whose bytes begin at multiples of 4, as those of a unit do.
void dequantize_nf4(Queue queue, const Nf4Matrix& from, View values);

void gelu_exact(Queue queue, View h_MF, View y_MF);
void gelu_exact_backward(Queue queue, View h_MF, View dy_MF, View dh_MF);
void gelu_tanh(Queue queue, View h_MF, View y_MF);
void gelu_tanh_backward(Queue queue, View h_MF, View dy_MF, View dh_MF);
void relu_squared(Queue queue, View h_MF, View y_MF);
void relu_squared_backward(Queue queue, View h_MF, View dy_MF, View dh_MF);
void swiglu(Queue queue, View gate_up_M2F, View y_MF);
void swiglu_backward(Queue queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);
void geglu_exact(Queue queue, View gate_up_M2F, View y_MF);
void geglu_exact_backward(Queue queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);
void geglu_tanh(Queue queue, View gate_up_M2F, View y_MF);
void geglu_tanh_backward(Queue queue, View gate_up_M2F, View dy_MF, View dgate_up_M2F);

/// Each part has the dtype of the sum or, if the sum is fp32, all that have not have one other of 16 bits: on the wire
/// gradients may be narrower than a rank's own. There are 1 to 2,048 parts.
void pairwise_sum(Queue queue, std::span<const View> parts, View sum, bool accumulate);

// Products, by cuBLASLt.
void linear(Queue queue, View x_MK, View w_NK, View bias_N, View y_MN);
void linear_add(Queue queue, View x_MK, View w_NK, View bias_N, View residual_MN, View y_MN);
void linear_backward_input(Queue queue, View dy_MN, View w_NK, View dx_MK, bool accumulate = false);
void linear_backward_weight(Queue queue, View dy_MN, View x_MK, View dw_NK, View dbias_N, bool accumulate);

/// @throws UsageError [GPU-09] the GPU has no products of fp8
void require_scaled_products(Queue queue);
void amax_scales(Queue queue, View history, int margin, View scales);
void scaled_linear(Queue queue, View x, View w_NK, View bias_N, View y_MN, const ScaledProduct& product);
void scaled_linear_add(Queue queue, View x, View w_NK, View bias_N, View residual_MN, View y_MN,
                       const ScaledProduct& product);
void scaled_linear_backward_weight(Queue queue, View dy_MN, View x, View dw_NK, View dbias_N, bool accumulate,
                                   const ScaledProduct& product);
void scaled_linear_backward_input(Queue queue, View w_NK, View dx_MK, bool accumulate, const ScaledProduct& product);
void scaled_normalize(Queue queue, const NormedInput& norm, View x_KM, const ScaledProduct& product);
void scaled_activate(Queue queue, Activation activation, View h, View x_KM, const ScaledProduct& product);
void scaled_input_again(Queue queue, View x_KM, const ScaledProduct& product);
void scaled_activate_backward(Queue queue, Activation activation, View h, View dy, View dh, bool for_weights,
                              const ScaledProduct& product);
void scaled_rotary_backward(Queue queue, View dy_MN, std::int64_t rotated, View cos_TH, View sin_TH,
                            std::int64_t tokens, const std::int32_t* document_starts_M, bool for_weights,
                            const ScaledProduct& product);
void record_amax(Queue queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms);

// Norms.
void layer_norm(Queue queue, View x_MD, View weight_H, View bias_H, double epsilon, View y_MD, View mean_M,
                View rstd_M);
void rms_norm(Queue queue, View x_MD, View weight_H, View bias_H, double epsilon, View y_MD, View rstd_M,
              double weight_offset = no_weight_offset);
void layer_norm_recompute(Queue queue, View x_MD, View weight_H, View bias_H, View mean_M, View rstd_M, View y_MD);
void rms_norm_recompute(Queue queue, View x_MD, View weight_H, View bias_H, View rstd_M, View y_MD,
                        double weight_offset = no_weight_offset);
void layer_norm_backward(Queue queue, View dy_MD, View x_MD, View weight_H, View mean_M, View rstd_M, View dx_MD,
                         bool add_to_dx, View dweight_H, View dbias_H, bool accumulate);
void rms_norm_backward(Queue queue, View dy_MD, View x_MD, View weight_H, View rstd_M, View dx_MD, bool add_to_dx,
                       View dweight_H, View dbias_H, bool accumulate, double weight_offset = no_weight_offset);

// Attention and positions.
void rotary_table(Queue queue, const RotarySpec& rotary, View cos_TH, View sin_TH);
void rotary(Queue queue, View x_MD, View cos_TH, View sin_TH, std::int64_t tokens, std::int64_t first_position,
            bool inverse, const std::int32_t* document_starts_M = nullptr);
void tiled_attention(Queue queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                     const AttentionMask& mask, const std::int32_t* document_starts_BT = nullptr);
void tiled_attention_backward(Queue queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                              View dv, const AttentionShape& shape, const AttentionMask& mask,
                              const std::int32_t* document_starts_BT = nullptr);
void reference_attention(Queue queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                         const AttentionMask& mask, const DropoutKey& key,
                         const std::int32_t* document_starts_BT = nullptr);
void reference_attention_backward(Queue queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq,
                                  View dk, View dv, const AttentionShape& shape, const AttentionMask& mask,
                                  const DropoutKey& key, const std::int32_t* document_starts_BT = nullptr);
void write_to_pages(Queue queue, View x_BK, View cache, const PagedTokens& tokens);
void paged_attention(Queue queue, View q, View k_cache, View v_cache, View out, const AttentionShape& shape,
                     const AttentionMask& mask, const PagedTokens& tokens);

// The ends of a decoder.
void embedding(Queue queue, const std::int32_t* ids_M, View table_VD, View positions_TD, std::int64_t tokens,
               std::int64_t first_position, View x_MD, const std::int32_t* document_starts_M = nullptr,
               double scale = 1);
void embedding_backward(Queue queue, const std::int32_t* ids_M, View dx_MD, View dtable_VD, bool accumulate,
                        double scale = 1);
void position_embedding_backward(Queue queue, View dx_MD, std::int64_t tokens, View dpositions_TD, bool accumulate,
                                 const std::int32_t* document_starts_M = nullptr);
void cross_entropy(Queue queue, const TokenLogits& logits, const LossTerms& terms = {});
void distillation_loss(Queue queue, const TaughtLogits& logits, const DistillationTerms& terms);

// Updates of parameters, and the norm of gradients.
void adamw(UpdateQueue queue, const ElementUpdate& run, const AdamWCoefficients& coefficients,
           const UpdateTerms& terms);
void sgd(UpdateQueue queue, const ElementUpdate& run, const SgdCoefficients& coefficients, const UpdateTerms& terms);
void lion(UpdateQueue queue, const ElementUpdate& run, const LionCoefficients& coefficients, const UpdateTerms& terms);
void momentum_mean(UpdateQueue queue, const ElementUpdate& run, const MomentumCoefficients& coefficients,
                   const UpdateTerms& terms);
void step_along(UpdateQueue queue, const ElementUpdate& run, const DirectionCoefficients& coefficients,
                const UpdateTerms& terms);
void move_average(UpdateQueue queue, const ElementUpdate& run, const AverageCoefficients& coefficients,
                  const UpdateTerms& terms);
void orthogonalize(UpdateQueue queue, View matrix, View workspace, double squared_scale, std::int64_t iterations);
void add_to_norm(Queue queue, View x, GradientNorm order, PartialGradientNorm* norm);

// Mixtures of experts. How many rows of pairs there are is read on the GPU: the host does not wait for it.
void choose_experts(Queue queue, const Routing& routing, RouterScores scores, bool normalize, View bias_E);
void sort_pairs(Queue queue, const Routing& routing, std::int64_t capacity);
void add_router_loss(Queue queue, const Routing& routing, RouterScores scores, const RouterLosses& losses, double* sum);
void add_loads(Queue queue, const Routing& routing, std::int64_t* loads_E);
void choose_experts_backward(Queue queue, const Routing& routing, RouterScores scores, bool normalize,
                             const RouterLosses& losses, const StepScalars* step);
void gather_rows(Queue queue, View x_MD, const Routing& routing, View rows_ND);
void combine_rows(Queue queue, View rows_ND, const Routing& routing, View weights_Mk, View residual_MD, View y_MD);
void weigh_rows_backward(Queue queue, View a_NF, View d_NF, const Routing& routing);
void expert_linear(Queue queue, View x_NK, const ExpertMatrices& w, View y_NF, const Routing& routing);
void expert_linear_backward_input(Queue queue, View dy_NF, const ExpertMatrices& w, View dx_NK, const Routing& routing);
void expert_linear_backward_weight(Queue queue, View dy_NF, View x_NK, const ExpertMatrices& dw, const Routing& routing,
                                   bool accumulate);
void activate_rows(Queue queue, Activation activation, View h_NG, View y_NF, const Routing& routing);
void activate_rows_backward(Queue queue, Activation activation, View h_NG, View dy_NF, const Routing& routing);
void balance_biases(Queue queue, const ElementUpdate& run, std::int64_t first, const std::int64_t* loads,
                    std::int64_t n_experts, double rate, const UpdateTerms& terms);

// Encoders, and what compares embeddings of texts. Texts' numbers by token lie in the host's memory, as ids do.
void pool_texts(Queue queue, View x_MD, const std::int32_t* text_of_M, const TextPooling& pooling, View y_RD,
                View present_R1);
void pool_texts_backward(Queue queue, View dy_RD, const std::int32_t* text_of_M, const TextPooling& pooling,
                         View dx_MD);
void unit_length(Queue queue, View x_RE, View y_RE);
void unit_length_backward(Queue queue, View dy_RE, View x_RE);
void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms);

// What compares sequences. Their references, targets and document starts lie in the host's memory, as ids do.
void preference_loss(Queue queue, const SequenceBatch& batch, const PreferenceTerms& terms);

// The numbers of a step.
void begin_step(Queue queue, StepScalars* scalars, std::span<std::int64_t> counters);
void begin_micro_batch(Queue queue, StepScalars* scalars);
void end_micro_batch(Queue queue, StepScalars* scalars);
void keep_metrics(Queue queue, StepScalars* scalars);
void write_step_words(Queue queue, StepScalars* scalars, const StepSettings& settings, const StepWords& to);
void read_step_words(Queue queue, StepScalars* scalars, const StepWords& from);
void decide_step(Queue queue, StepScalars* scalars, const StepSettings& settings, bool has_auxiliary_loss);

}  // namespace monomorph::cuda
