#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/loss/token_blocks.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/divergence_terms.hpp"

#include <cmath>
#include <limits>

// A block for each token. It reads the logits of both models for the greatest and the least of them, and again, from
// the second-level cache where that holds them, for the sums of their exponentials, for the divergence and for the
// gradient. What an id adds is computed as on CPUs; sums are of fp64.
namespace monomorph::cuda {
namespace {

/// As many as have registers enough for what an id takes of both models.
constexpr int most_compared_threads = 512;

/// The logits of all tokens as a kernel gets them.
template <class S> struct TaughtTokens {
  const S *student, *teacher;
  AnyElements dlogits;  ///< of all tokens, or null
  std::int64_t student_stride, teacher_stride, dlogits_stride, vocabulary, columns;
  const std::int32_t* targets;
  S *loss, *metrics;
  std::int64_t metrics_stride;
  const double* scale;  ///< null: 1
  double temperature, teacher_weight;

  __device__ void write(std::int64_t row, const TokenCompared<S>& token) const {
    loss[row] = token.loss(temperature, teacher_weight);
    token.each_metric([&](int k, S value) { metrics[k * metrics_stride + row] = value; });
  }
};

struct Lesser {
  template <class T> __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};

// What a block joins has memory by its name, of each model.
struct OfStudent;
struct OfTeacher;
template <class Model> struct OfMost;
template <class Model> struct OfLeast;
template <class Model> struct OfSum;
template <class Model> struct OfSumAtTemperature;
template <class Model> struct OfPlace;

/// What a block knows of one model's logits of its token. All threads have the same.
template <class Model, class S> struct Row {
  const S* logits;
  std::int64_t vocabulary;
  S most = 0, least = 0;       ///< NaN apart
  std::int64_t likeliest = 0;  ///< the first one
  double log_sum = 0, log_sum_at_temperature = 0;

  template <int width> __device__ void find_extremes() {
    S greatest = -std::numeric_limits<S>::infinity(), smallest = std::numeric_limits<S>::infinity();
    each_pack<width>(vocabulary, [&]<int n>(std::int64_t column) {
      const auto x = read_pack<S, n>(logits + column);
      MONOMORPH_UNROLL
      for (int i = 0; i < n; ++i) greatest = Greater{}(x.at[i], greatest), smallest = Lesser{}(x.at[i], smallest);
    });
    most = joined_in_block<OfMost<Model>>(greatest, Greater{});
    least = joined_in_block<OfLeast<Model>>(smallest, Lesser{});
  }

  /// After find_extremes.
  template <int width> __device__ void add_up(S inverse) {
    const bool near = all_are_near(1), near_at_temperature = all_are_near(inverse);
    double sum = 0, sum_at_temperature = 0;
    std::int64_t first = vocabulary - 1;
    each_pack_backward<width>(vocabulary, [&]<int n>(std::int64_t column) {
      const auto x = read_pack<S, n>(logits + column);
      MONOMORPH_UNROLL
      for (int i = 0; i < n; ++i) {
        const S below = x.at[i] - most;
        sum += power(below, near);
        sum_at_temperature += power(below * inverse, near_at_temperature);
        if (!(x.at[i] < most)) first = Lesser{}(column + i, first);
      }
    });
    sum = joined_in_block<OfSum<Model>>(sum, Sum{});
    sum_at_temperature = joined_in_block<OfSumAtTemperature<Model>>(sum_at_temperature, Sum{});
    likeliest = joined_in_block<OfPlace<Model>>(first, Lesser{});
    const auto greatest = static_cast<double>(most);
    log_sum = log_sum_exp(greatest, near, sum, vocabulary);
    log_sum_at_temperature =
        log_sum_exp(greatest * static_cast<double>(inverse), near_at_temperature, sum_at_temperature, vocabulary);
  }

  /// Of a token by the data.
  __device__ S cross_entropy(S target_logit) const {
    return static_cast<S>(log_sum - static_cast<double>(target_logit));
  }

 private:
  __device__ bool all_are_near(S inverse) const { return (most - least) * inverse < near_zero<S>; }
  static __device__ double power(S x, bool near) {
    return static_cast<double>(near ? x + above_its_tangent(x) : exponential(x));
  }
};

/// What the block's token has of the divergence, and the mean of its slope, which a gradient needs.
template <class S> struct Divergences { S divergence, mean_slope; };
template <Divergence kind, int width, class S>
__device__ Divergences<S> divergences_of(const S* student, const S* teacher, const ModelsCompared<S>& models,
                                         std::int64_t vocabulary) {
  double divergence = 0, slope = 0;
  each_pack<width>(vocabulary, [&]<int n>(std::int64_t column) {
    const auto z = read_pack<S, n>(student + column), u = read_pack<S, n>(teacher + column);
    MONOMORPH_UNROLL
    for (int i = 0; i < n; ++i) {
      const LogOdds<S> id = models.odds(z.at[i], u.at[i]);
      divergence += static_cast<double>(divergence_term<kind>(id));
      if constexpr (kind != Divergence::forward_kl) slope += static_cast<double>(id.q() * divergence_slope<kind>(id));
    }
  });
  divergence = joined_in_block<struct OfDivergence>(divergence, Sum{});
  if constexpr (kind != Divergence::forward_kl) slope = joined_in_block<struct OfSlope>(slope, Sum{});
  return {static_cast<S>(divergence), static_cast<S>(slope)};
}

template <Divergence kind, int width, class S>
__global__ void __launch_bounds__(most_compared_threads, 1) compare_models(TaughtTokens<S> tokens) {
  const std::int64_t row = blockIdx.x, vocabulary = tokens.vocabulary;
  const std::int32_t target = tokens.targets[row];
  const auto write_gradient = [&](const auto& gradient, std::int64_t column) {
    write_pack(gradient, tokens.dlogits, row * tokens.dlogits_stride + column);
  };
  if (target == ignored_target) {
    if (threadIdx.x == 0) tokens.write(row, {});
    if (tokens.dlogits.present()) zero_columns<S>(0, tokens.columns, write_gradient);
    return;
  }
  Row<OfStudent, S> student{tokens.student + row * tokens.student_stride, vocabulary};
  Row<OfTeacher, S> teacher{tokens.teacher + row * tokens.teacher_stride, vocabulary};
  // Before the gradient comes in its place.
  const S student_target = student.logits[target], teacher_target = teacher.logits[target];
  const S inverse = static_cast<S>(1 / tokens.temperature);
  student.template find_extremes<width>();
  teacher.template find_extremes<width>();
  student.template add_up<width>(inverse);
  teacher.template add_up<width>(inverse);
  const ModelsCompared<S> models(inverse, student.log_sum_at_temperature, teacher.log_sum_at_temperature);
  const auto [divergence, mean_slope] = divergences_of<kind, width>(student.logits, teacher.logits, models, vocabulary);
  if (threadIdx.x == 0)
    tokens.write(row, {student.cross_entropy(student_target), divergence, teacher.cross_entropy(teacher_target),
                       student.likeliest == teacher.likeliest ? S{1} : S{0}});
  if (!tokens.dlogits.present()) return;
  const GradientFactors<S> factors(tokens.scale == nullptr ? 1 : *tokens.scale, tokens.temperature,
                                   tokens.teacher_weight);
  const S log_sum = static_cast<S>(student.log_sum), mean = mean_slope;
  each_pack_backward<width>(vocabulary, [&]<int n>(std::int64_t column) {
    const auto z = read_pack<S, n>(student.logits + column), u = read_pack<S, n>(teacher.logits + column);
    const std::int32_t target_at = target - static_cast<std::int32_t>(column);
    Pack<S, n> gradient;
    MONOMORPH_UNROLL
    for (int i = 0; i < n; ++i) {
      const S pull = divergence_gradient<kind>(models.odds(z.at[i], u.at[i]), mean);
      const S of_logit = factors.of_data * exponential(z.at[i] - log_sum) + factors.of_divergence * pull;
      gradient.at[i] = i == target_at ? of_logit - factors.of_data : of_logit;
    }
    write_gradient(gradient, column);
  });
  zero_columns<S>(vocabulary, tokens.columns, write_gradient);
}

constexpr int n_metrics = 4;

/// A block adds up one of the metrics of all tokens, in one order.
template <class S>
__global__ void __launch_bounds__(loss_threads)
    add_metrics(const S* metrics, std::int64_t stride, std::int64_t rows, LossSum* sum) {
  const S* const metric = metrics + blockIdx.x * stride;
  double own = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += loss_threads) own += static_cast<double>(metric[row]);
  const double total = joined_in_block<struct OfMetrics>(own, Sum{});
  if (threadIdx.x == 0) sum->metrics[blockIdx.x] += total;
}

template <Divergence kind, class S>
void start(Queue queue, const TaughtLogits& logits, const DistillationTerms& terms) {
  // Arithmetic of fp64, which is there to compare with, leaves no registers for packs.
  constexpr int wide = std::same_as<S, double> ? 1 : static_cast<int>(access_bytes / sizeof(S));
  const TokenLogits& student = logits.student;
  const View &in = student.logits_CV, &teacher = logits.teacher_CV, &out = student.dlogits_CV;
  const TaughtTokens<S> tokens{in.as<S>(),
                               teacher.as<S>(),
                               {out.present() ? out.data : nullptr, out.dtype},
                               in.stride,
                               teacher.stride,
                               out.stride,
                               student.vocab_size,
                               out.shape.cols,
                               student.targets_C,
                               student.loss_C.as<S>(),
                               logits.metrics_4C.as<S>(),
                               logits.metrics_4C.stride,
                               student.scale == &unscaled ? nullptr : student.scale,
                               terms.temperature,
                               terms.teacher_weight};
  const bool packed = rows_start_access(in) && rows_start_access(teacher) && (!out.present() || rows_start_access(out));
  const auto kernel = packed ? compare_models<kind, wide, S> : compare_models<kind, 1, S>;
  launch(kernel,
         {static_cast<unsigned>(in.shape.rows),
          threads_for(student.vocab_size, packed ? wide : 1, most_compared_threads)},
         queue, tokens);
}

template <class S> void compare(Queue queue, const TaughtLogits& logits, const DistillationTerms& terms) {
  switch (terms.divergence) {
    case Divergence::forward_kl:
      return start<Divergence::forward_kl, S>(queue, logits, terms);
    case Divergence::reverse_kl:
      return start<Divergence::reverse_kl, S>(queue, logits, terms);
    case Divergence::jensen_shannon:
      return start<Divergence::jensen_shannon, S>(queue, logits, terms);
  }
}

}  // namespace

void distillation_loss(Queue queue, const TaughtLogits& logits, const DistillationTerms& terms) {
  const KernelSpan span(Work::loss, "distillation_loss", queue.stream);
  const TokenLogits& student = logits.student;
  const std::int64_t rows = student.logits_CV.shape.rows;
  if (!student.logits_CV.present()) return;
  check_dtypes("cuda::distillation_loss", student);
  check_gradients("cuda::distillation_loss", student);
  TaughtLogits on_gpu = logits;
  on_gpu.student.targets_C = on_device(queue, student.targets_C, rows);
  in_compute_type(student.logits_CV.dtype, [&]<class S>() { compare<S>(queue, on_gpu, terms); });
  add_to_sum(queue, on_gpu.student);
  if (student.sum == nullptr) return;
  in_compute_type(student.logits_CV.dtype, [&]<class S>() {
    launch(add_metrics<S>, {n_metrics, loss_threads}, queue, logits.metrics_4C.as<const S>(), logits.metrics_4C.stride,
           rows, student.sum);
  });
}

}  // namespace monomorph::cuda
