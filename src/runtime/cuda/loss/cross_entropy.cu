#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/loss/token_blocks.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <cmath>
#include <limits>

// A block for each token. It reads the logits once for their maximum and the sum of their exponentials, and again, from
// the second-level cache, for the gradient. Exponentials are of the logits' dtype, or fp32 of logits of 16 bits, and
// are added up in fp64, so that no vocabulary is too large, and a loss is exact where the model is sure: of fp32
// logits, losses and gradients have errors below 1e-6.
namespace monomorph::cuda {
namespace {

/// What exponentials, losses and gradients are computed in, of logits that are stored as L.
template <class L> using Arithmetic = std::conditional_t<std::same_as<L, double>, double, float>;

/// e^x, x being a difference of logits that are stored as L. Of 16 bits it is the GPU's own approximation: with that of
/// fp32 the kernel would wait for arithmetic and not for memory, and its relative error, of about 1e-6 where e^x
/// counts, is far below theirs.
template <class L> __device__ Arithmetic<L> exponential_of(Arithmetic<L> x) {
  if constexpr (sizeof(L) == 2)
    return __expf(x);
  else
    return std::exp(x);
}

/// So many that a multiprocessor has the registers for three blocks: one token's logits are read while the gradients of
/// another are written.
template <class S> constexpr int most_token_threads = 2048 / sizeof(S);
constexpr int tokens_at_once = 3;

/// The logits of all tokens as a kernel gets them.   @tparam L of logits, D of gradients
template <class L, class D> struct Tokens {
  using S = Arithmetic<L>;
  const L* logits;
  D* dlogits;  ///< or null
  std::int64_t stride, dlogits_stride, vocabulary, columns;
  const std::int32_t* targets;
  S* loss;
  const double* scale;  ///< null: 1
  const S* weight;      ///< of the gradient, by token; null: 1
  LossTerms terms;
};

/// What a thread knows of the logits it has read: the greatest, NaN apart, and the sum of e^(logit - greatest).
template <class L> struct Exponentials {
  using S = Arithmetic<L>;
  S most = -std::numeric_limits<S>::infinity();
  double total = 0, logits = 0;  ///< the latter where labels are smoothed

  template <int width> __device__ void take(const Pack<S, width>& x, bool sums_logits) {
    S greatest = most;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) greatest = x.at[i] > greatest ? x.at[i] : greatest;
    rescale(greatest);
    // Without a finite one the logits are -inf, and add nothing, or NaN.
    const S reference = most == -std::numeric_limits<S>::infinity() ? S{0} : most;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) total += static_cast<double>(exponential_of<L>(x.at[i] - reference));
    if (!sums_logits) return;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) logits += static_cast<double>(x.at[i]);
  }
  __device__ void rescale(S greatest) {
    if (most == greatest) return;
    total *= static_cast<double>(exponential_of<L>(most - greatest));
    most = greatest;
  }
};

/// Of all of a token's logits, in each thread of its block.
template <int width, class L>
__device__ Exponentials<L> read_logits(const L* logits, std::int64_t vocabulary, bool sums_logits) {
  using S = Arithmetic<L>;
  Exponentials<L> found;
  const std::int64_t packed = vocabulary / width * width, step = static_cast<std::int64_t>(blockDim.x) * width;
  std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * width;
  Pack<L, width> next{};
  if (column < packed) next = read_pack<L, width>(logits + column);
  while (column < packed) {
    const auto x = read_pack<S, width>(next.at);
    column += step;
    if (column < packed) next = read_pack<L, width>(logits + column);  // on its way while x is added up
    found.take(x, sums_logits);
  }
  if (const std::int64_t rest = packed + threadIdx.x; rest < vocabulary)
    found.take(read_pack<S, 1>(logits + rest), sums_logits);
  found.rescale(joined_in_block<struct OfMaxima>(found.most, Greater{}));
  found.total = joined_in_block<struct OfTotals>(found.total, Sum{});
  if (sums_logits) found.logits = joined_in_block<struct OfLogits>(found.logits, Sum{});
  return found;
}

/// The gradient is of_exponentials e^(logit - most), less `of_target` at the target and `of_all` everywhere.
template <class L> struct Gradient {
  using S = Arithmetic<L>;
  S most, of_exponentials, of_target, of_all;
  std::int32_t target;

  template <int width, class D> __device__ void write(const L* logits, D* to, std::int64_t column) const {
    const auto x = read_pack<S, width>(logits + column);
    const std::int32_t target_at = target - static_cast<std::int32_t>(column);
    Pack<S, width> gradient;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) {
      const S of_logit = exponential_of<L>(x.at[i] - most) * of_exponentials,
              shifted = of_all > 0 ? of_logit - of_all : of_logit;
      gradient.at[i] = i == target_at ? shifted - of_target : shifted;
    }
    write_pack(gradient, to + column);
  }
};

template <class L>
__device__ Gradient<L> gradient_of(const Exponentials<L>& found, Arithmetic<L> log_sum_exp, double scale,
                                   const LossTerms& terms, std::int32_t target, std::int64_t vocabulary) {
  using S = Arithmetic<L>;
  Gradient<L> gradient{found.most, static_cast<S>(scale / found.total), static_cast<S>(scale), 0, target};
  if (terms.z_loss > 0) gradient.of_exponentials *= 1 + 2 * static_cast<S>(terms.z_loss) * log_sum_exp;
  if (terms.label_smoothing > 0) {
    const double smoothed = scale * terms.label_smoothing;
    gradient.of_target = static_cast<S>(scale - smoothed);
    gradient.of_all = static_cast<S>(smoothed / static_cast<double>(vocabulary));
  }
  return gradient;
}

template <class L, class S = Arithmetic<L>>
__device__ S loss_of(const Exponentials<L>& found, S target_logit, S log_total, S log_sum_exp, const LossTerms& terms,
                     std::int64_t vocabulary) {
  S loss = log_total + (found.most - target_logit);  // neither is negative, so nothing cancels
  if (terms.label_smoothing > 0) {
    const S mean = static_cast<S>(found.logits / static_cast<double>(vocabulary));
    loss += static_cast<S>(terms.label_smoothing) * (target_logit - mean);
  }
  if (terms.z_loss > 0) loss += static_cast<S>(terms.z_loss) * log_sum_exp * log_sum_exp;
  return loss;
}

template <int width, class L, class D>
__global__ void __launch_bounds__(most_token_threads<Arithmetic<L>>, tokens_at_once)
    cross_entropies(Tokens<L, D> tokens) {
  using S = Arithmetic<L>;
  const std::int64_t row = blockIdx.x;
  const std::int32_t target = tokens.targets[row];
  const L* const logits = tokens.logits + row * tokens.stride;
  D* const dlogits = tokens.dlogits == nullptr ? nullptr : tokens.dlogits + row * tokens.dlogits_stride;
  const auto write_zero = [&](const auto& zero, std::int64_t column) { write_pack(zero, dlogits + column); };
  if (target == ignored_target) {
    if (threadIdx.x == 0) tokens.loss[row] = 0;
    if (dlogits != nullptr) zero_columns<float>(0, tokens.columns, write_zero);
    return;
  }
  const S target_logit = converted<S>(logits[target]);  // before the gradient comes in its place
  const Exponentials<L> found = read_logits<width>(logits, tokens.vocabulary, tokens.terms.label_smoothing > 0);
  // One of the terms is 1, and where it is nearly all of their sum the logarithm shows what the others add.
  const S log_total = std::log1p(static_cast<S>(found.total - 1)), log_sum_exp = log_total + found.most;
  if (threadIdx.x == 0)
    tokens.loss[row] = loss_of(found, target_logit, log_total, log_sum_exp, tokens.terms, tokens.vocabulary);
  if (dlogits == nullptr) return;
  double scale = tokens.scale == nullptr ? 1 : *tokens.scale;
  if (tokens.weight != nullptr) scale *= static_cast<double>(tokens.weight[row]);
  const Gradient<L> gradient = gradient_of(found, log_sum_exp, scale, tokens.terms, target, tokens.vocabulary);
  each_pack_backward<width>(tokens.vocabulary,
                            [&]<int n>(std::int64_t column) { gradient.template write<n>(logits, dlogits, column); });
  zero_columns<float>(tokens.vocabulary, tokens.columns, write_zero);
}

template <class L, class D> void start(Queue queue, const TokenLogits& logits, const LossTerms& terms) {
  // Exponentials of fp64, which is there to compare with, leave no registers for packs.
  constexpr int wide = std::same_as<L, double> ? 1 : 8;
  using S = Arithmetic<L>;
  const View &in = logits.logits_CV, &out = logits.dlogits_CV;
  const Tokens<L, D> tokens{in.as<L>(),
                            out.present() ? out.as<D>() : nullptr,
                            in.stride,
                            out.stride,
                            logits.vocab_size,
                            out.shape.cols,
                            logits.targets_C,
                            logits.loss_C.as<S>(),
                            logits.scale == &unscaled ? nullptr : logits.scale,
                            logits.weight_C.present() ? logits.weight_C.as<const S>() : nullptr,
                            terms};
  const bool packed = rows_start_access(in) && (!out.present() || rows_start_access(out));
  const auto kernel = packed ? cross_entropies<wide, L, D> : cross_entropies<1, L, D>;
  launch(kernel,
         {static_cast<unsigned>(in.shape.rows),
          threads_for(logits.vocab_size, packed ? wide : 1, most_token_threads<S>)},
         queue, tokens);
}

/// f<L, D>() for logits that are stored as L, and gradients of D: of the logits' dtype, or of 16 bits by logits of
/// fp32.
void in_stored_types(const TokenLogits& logits, auto f) {
  const View& out = logits.dlogits_CV;
  in_element_type(logits.logits_CV.dtype, [&]<class L>() {
    if constexpr (std::same_as<L, float>) {
      if (out.present() && out.dtype == DType::bf16) return f.template operator()<float, BFloat16>();
      if (out.present() && out.dtype == DType::fp16) return f.template operator()<float, Half>();
    }
    f.template operator()<L, L>();
  });
}

void check_stored(const TokenLogits& logits) {
  check_gradients("cuda::cross_entropy", logits);
  if (size_of(logits.logits_CV.dtype) != 2) return check_dtypes("cuda::cross_entropy", logits);
  if (logits.loss_C.dtype != DType::fp32)
    throw std::logic_error("cuda::cross_entropy gives losses of fp32 of logits of 16 bits");
}

}  // namespace

void cross_entropy(Queue queue, const TokenLogits& logits, const LossTerms& terms) {
  const KernelSpan span(Work::loss, "cross_entropy", queue.stream);
  const std::int64_t rows = logits.logits_CV.shape.rows;
  if (!logits.logits_CV.present()) return;
  check_stored(logits);
  TokenLogits on_gpu = logits;
  on_gpu.targets_C = on_device(queue, logits.targets_C, rows);
  in_stored_types(logits, [&]<class L, class D>() { start<L, D>(queue, on_gpu, terms); });
  add_to_sum(queue, on_gpu);
}

}  // namespace monomorph::cuda
