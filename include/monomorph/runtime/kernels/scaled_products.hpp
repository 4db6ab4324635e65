#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph {

/// The tensors of a product that are rounded to 8 bits: its input x and its weights w to e4m3, in backward the gradient
/// dy of its result to e5m2.
enum class ScaledTensor { x, w, dy };
inline constexpr int scaled_tensors = 3;

/// Where the numbers of a product lie: the scales of its three tensors, then the inverse of each at the beginning of an
/// access of 16 bytes, as cuBLASLt refuses one that lies elsewhere.
inline constexpr int numbers_of_access = 4, numbers_of_scales = numbers_of_access * (1 + scaled_tensors);
constexpr int place_of_scale(int tensor) { return tensor; }
constexpr int place_of_inverse(int tensor) { return numbers_of_access * (1 + tensor); }

/// A matrix of fp8 elements, and what each is to be multiplied by: one number in the memory of the device.
struct ScaledView {
  View view;
  const float* scale = nullptr;
};

/// Whether the kernel that made a product's input has rounded it, see scaled_linear.
inline bool is_rounded(const View& x) { return x.dtype == DType::e4m3; }

/// What a product of M tokens, K features in and N features out has beside its tensors.
struct ScaledProduct {
  const float* scales = nullptr;   ///< as amax_scales writes them
  std::int64_t* maxima = nullptr;  ///< of the three tensors in this step, as integers; null: none is taken
  View room{};                     ///< where rounded tensors lie, of elements() bf16 elements: flat
  View kept_w_KN{};                ///< absent, or where rounded weights lie from forward to backward, in e4m3
  std::int64_t M = 0, N = 0, K = 0;

  static constexpr std::int64_t elements(std::int64_t M, std::int64_t N, std::int64_t K) {
    return M * N + M * K + N * K;
  }
  float scale(ScaledTensor tensor) const { return scales[place_of_scale(static_cast<int>(tensor))]; }
  const float* inverse(ScaledTensor tensor) const { return scales + place_of_inverse(static_cast<int>(tensor)); }
  std::int64_t* maximum(ScaledTensor tensor) const {
    return maxima == nullptr ? nullptr : maxima + static_cast<int>(tensor);
  }
  View dy_MN() const { return room.columns(0, M * N).reshaped({M, N}); }
  View x_MK() const { return room.columns(M * N, M * K).reshaped({M, K}); }
  View w_NK() const { return room.columns(M * N + M * K, N * K).reshaped({N, K}); }
};

/// A norm whose output is a product's input and nothing else, as runtime/kernels/norm.hpp has its tensors.
struct NormedInput {
  NormKind kind;
  View x_MK, weight_K, bias_K;
  double epsilon = 0;
  View mean_M, rstd_M;
  bool from_saved = false;  ///< whether the statistics are there already
};

}  // namespace monomorph

/// Products of matrices whose elements are rounded to 8 bits first, by tensor with one scale. Their sums are formed in
/// fp32 at least, and what comes of them is rounded as a product of bf16 is. Tensors are of bf16, gradients of weights
/// and biases of fp32; M, N and K are multiples of 16.
namespace monomorph::cpu {

/// @throws UsageError [GPU-09] the device has no such products
void require_scaled_products(Queue);

/// Makes scales and their inverses for n products, each of three tensors, from the maxima that were recorded.
/// @param history (3 n, updates)   @param scales of numbers_of_scales fp32 numbers a product, of which those between
/// are left as they are
void amax_scales(Queue, View history, int margin, View scales);

/// linear and linear_add of rounded x and w. x is either bf16, (M, K), which is rounded here, or e4m3, (K, M): what the
/// kernel that made x has rounded, transposed there for backward, and in the product's room as it is.
void scaled_linear(Queue, View x, View w_NK, View bias_N, View y_MN, const ScaledProduct& product);
void scaled_linear_add(Queue, View x, View w_NK, View bias_N, View residual_MN, View y_MN,
                       const ScaledProduct& product);
/// linear_backward_weight of rounded dy and x, with x as forward had it. dbias gets the sums of dy as it is. dy may be
/// absent, and dbias with it: then the kernel that made it has rounded it into the product's room. Where dw is absent,
/// as the weights are frozen, dy alone is rounded.
void scaled_linear_backward_weight(Queue, View dy_MN, View x, View dw_NK, View dbias_N, bool accumulate,
                                   const ScaledProduct& product);
/// linear_backward_input. The product's scaled_linear_backward_weight was called before, and dy has been rounded.
void scaled_linear_backward_input(Queue, View w_NK, View dx_MK, bool accumulate, const ScaledProduct& product);

// What makes a product's input that nothing else reads: rounded to bf16 first, as if it were stored, and then to e4m3,
// into the product's room and, transposed, to x_KM.

void scaled_normalize(Queue, const NormedInput& norm, View x_KM, const ScaledProduct& product);
void scaled_activate(Queue, Activation activation, View h, View x_KM, const ScaledProduct& product);
/// From x_KM into the product's room: before scaled_linear is called again, and not what made its input.
void scaled_input_again(Queue, View x_KM, const ScaledProduct& product);

/// The gradient of h, which is the dy of the product that made h: rounded to bf16 and then to e5m2 in the product's
/// room.
/// @param dh absent, or where it is stored as bf16, too; it may be h if the activation is gated, or else dy
/// @param for_weights whether the gradient of the product's weights will be asked for
void scaled_activate_backward(Queue, Activation activation, View h, View dy, View dh, bool for_weights,
                              const ScaledProduct& product);

/// The gradient of queries, keys and values behind their rotation, as the dy of the product that made them: its first
/// `rotated` columns, whole heads, are rotated back (runtime/kernels/rotary.hpp) and rounded to bf16 in between, and
/// all to e5m2 in the product's room. What dy holds is lost.
void scaled_rotary_backward(Queue, View dy_MN, std::int64_t rotated, View cos_TH, View sin_TH, std::int64_t tokens,
                            const std::int32_t* document_starts_M, bool for_weights, const ScaledProduct& product);

/// Writes the step's maxima to the place of its update, in a history of which a run of the unit's elements may hold a
/// part: the oldest of each row's.
/// @param first place of the history in the unit   @param history its shape
void record_amax(Queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms);

}  // namespace monomorph::cpu
