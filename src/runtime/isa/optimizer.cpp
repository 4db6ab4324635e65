#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/isa/update_scalars.hpp"
#include "runtime/isa/vector_math.hpp"
#include "runtime/kernels/stochastic_rounding.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// The distance between the bf16 numbers around x.
inline float bf16_spacing(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7F80'0000u) * 0x1p-7f;
}

/// What the first moment owes to a bf16 parameter. A change of it by δ goes on to move the parameter by
/// -U δ (β₁ + β₁² + …) = -U δ β₁ / (1 - β₁), where U is what a moment of 1 moves it by; so -(1 - β₁) / (β₁ U) times
/// what rounding took makes that good within the next steps. No more is owed than `most` learning rates, as a greater
/// one may follow, which would pay too much. Where bf16 numbers lie further apart, both outcomes of a rounding leave
/// the same share of what they took: they cancel in the mean as before, which they would not if the greater one were
/// cut.
struct ErrorFeedback {
  static constexpr float most = 16;
  float factor, rate;  ///< (1 - β₁) / β₁; rate / √v is U
  float unbias2, epsilon;

  float of(float exact, float rounded, float v) const {
    const float spacing = bf16_spacing(exact), bound = most * rate;
    const float share = spacing > bound ? bound / spacing : 1;
    const float rates = share * (exact - rounded) / (rate + std::numeric_limits<float>::min());
    return factor * rates * (std::sqrt(v) * unbias2 + epsilon);
  }
};

/// The noise of one buffer of an update: sixteen bits an element.
struct Noise {
  std::array<std::uint32_t, 2> key;
  std::uint64_t update, first;  ///< the place in its unit of the first element
  /// The words of 64 elements, two buffers' bits in each: those of buffers 2 c and 2 c + 1. Not inlined: two draws in
  /// one loop made AdamW's update in bf16 a fifth slower.
  [[gnu::noinline]] void draw(std::int64_t i, int c, std::uint32_t* words) const {
    const auto group = static_cast<std::uint32_t>((first + static_cast<std::uint64_t>(i)) / random_group);
    random_words(key, group, static_cast<std::uint32_t>(c), update, words);
  }
};

/// A run of AdamW's three bf16 buffers from what they would be exactly.
void write_stochastically_rounded(const float* w, const float* m, const float* v, BFloat16* master, BFloat16* moment1,
                                  BFloat16* moment2, const ErrorFeedback& error_feedback, const Noise& noise,
                                  std::int64_t n) {
  alignas(64) std::uint32_t words[random_group], more_words[random_group];
  for (std::int64_t i = 0; i < n; i += random_group) {
    noise.draw(i, 0, words);
    noise.draw(i, 1, more_words);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t j = 0; j < random_group; ++j) {
      master[i + j] = round_stochastically(w[i + j], words[j] & 0xFFFFu);
      const float feedback = error_feedback.of(w[i + j], widen(master[i + j]), v[i + j]);
      moment1[i + j] = round_stochastically(m[i + j] - feedback, words[j] >> 16);
      moment2[i + j] = round_stochastically(v[i + j], more_words[j] & 0xFFFFu);
    }
  }
}

/// Puts what was computed of a buffer into its view: bf16 is rounded stochastically.
/// @param buffer 0 is the master, k + 1 the state's buffer k
template <class S>
void store(const S* values, const View& view, std::int64_t offset, int buffer, const Noise& noise, std::int64_t n) {
  if constexpr (std::same_as<S, float>) {
    if (view.dtype == DType::bf16) {
      alignas(64) std::uint32_t words[random_group];
      auto* const to = view.as<BFloat16>() + offset;
      const int shift = buffer % 2 == 0 ? 0 : 16;
      for (std::int64_t i = 0; i < n; i += random_group) {
        noise.draw(i, buffer / 2, words);
        MONOMORPH_ELEMENTWISE
        for (std::int64_t j = 0; j < random_group; ++j)
          to[i + j] = round_stochastically(values[i + j], (words[j] >> shift) & 0xFFFFu);
      }
      return;
    }
  }
  write(values, view, offset, n);
}

template <class S>
void store_rounded(const S* master, const View& rounded, std::int64_t offset, S* buffer, std::int64_t n) {
  if (!rounded.present()) return;
  S* copy = place(rounded, offset, buffer);
  MONOMORPH_ELEMENTWISE
  for (std::int64_t i = 0; i < n; ++i) copy[i] = master[i];
  write(copy, rounded, offset, n);
}

/// f(first element, elements) for chunks of a run, on several threads.
template <class F> void over_chunks(std::int64_t elements, F f) {
  parallel_for(ceil_div(elements, task_elements), [&](std::int64_t task) {
    const std::int64_t end = least(elements, (task + 1) * task_elements);
    for (std::int64_t first = task * task_elements; first < end; first += chunk) f(first, least(chunk, end - first));
  });
}

template <class S>
void adamw_chunk(const ElementUpdate& run, const AdamWCoefficients& step, const UpdateScalars& scalars,
                 double bias_correction1, double bias_correction2, std::int64_t first, std::int64_t n) {
  const View &master = run.master, &moment1 = run.state[0], &moment2 = run.state[1];
  Buffer<S> gradient_buffer, master_buffer, moment1_buffer, moment2_buffer;
  const S* grad = read(run.gradient, first, n, gradient_buffer.elements);
  const S* w_in = read(master, first, n, master_buffer.elements);
  const S* m_in = read(moment1, first, n, moment1_buffer.elements);
  const S* v_in = read(moment2, first, n, moment2_buffer.elements);
  S* w_out = place(master, first, master_buffer.elements);
  S* m_out = place(moment1, first, moment1_buffer.elements);
  S* v_out = place(moment2, first, moment2_buffer.elements);
  const S scale = static_cast<S>(scalars.gradient_scale), bound = static_cast<S>(scalars.clip_value);
  const S keep1 = static_cast<S>(step.beta1), take1 = static_cast<S>(1 - step.beta1);
  const S keep2 = static_cast<S>(step.beta2), take2 = static_cast<S>(1 - step.beta2);
  const S decay = static_cast<S>(1 - step.learning_rate * step.weight_decay);
  const S rate = static_cast<S>(step.learning_rate / bias_correction1), epsilon = static_cast<S>(step.epsilon);
  const S unbias2 = static_cast<S>(1 / std::sqrt(bias_correction2));
  MONOMORPH_ELEMENTWISE
  for (std::int64_t i = 0; i < n; ++i) {
    const S scaled = grad[i] * scale, capped = scaled > bound ? bound : scaled, g = capped < -bound ? -bound : capped;
    const S m = keep1 * m_in[i] + take1 * g, v = keep2 * v_in[i] + take2 * g * g;
    m_out[i] = m;
    v_out[i] = v;
    w_out[i] = w_in[i] * decay - rate * m / (std::sqrt(v) * unbias2 + epsilon);
  }
  const Noise noise{run.noise_key, scalars.update, run.first + static_cast<std::uint64_t>(first)};
  if constexpr (std::same_as<S, float>) {
    if (master.dtype == DType::bf16) {
      write_stochastically_rounded(w_out, m_out, v_out, master.as<BFloat16>() + first, moment1.as<BFloat16>() + first,
                                   moment2.as<BFloat16>() + first,
                                   {keep1 > 0 ? take1 / keep1 : 0, rate, unbias2, epsilon}, noise, n);
      return;  // compute reads the master itself
    }
  }
  store(m_out, moment1, first, 1, noise, n);
  store(v_out, moment2, first, 2, noise, n);
  write(w_out, master, first, n);
  store_rounded(w_out, run.rounded, first, gradient_buffer.elements, n);
}

/// What an update of chunks writes beside the state.
enum class Writes { master, gradient };

/// The share of a moving average that an update leaves in it.
inline double kept_of_average(double decay, std::uint64_t update) {
  const double kept = 1 - 1 / static_cast<double>(update);
  return kept < decay ? kept : decay;
}

/// Calls f with every chunk of a run, as it is computed with, and puts what f leaves there back.
template <class S, Writes writes, class F>
void update_run(const ElementUpdate& run, const UpdateScalars& scalars, F f) {
  const S scale = static_cast<S>(scalars.gradient_scale), bound = static_cast<S>(scalars.clip_value);
  over_chunks(run.master.elements(), [&](std::int64_t first, std::int64_t n) {
    Buffer<S> read_gradient, gradient, master, state[StateBuffers::capacity];
    const S* const raw = read(run.gradient, first, n, read_gradient.elements);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) {
      const S scaled = raw[i] * scale, capped = scaled > bound ? bound : scaled;
      gradient.elements[i] = capped < -bound ? -bound : capped;
    }
    UpdateChunk<S> part{n, gradient.elements, place(run.master, first, master.elements), {}};
    if (writes == Writes::master) read(run.master, first, n, master.elements);
    for (std::size_t k = 0; k < run.state.size(); ++k) {
      if (!run.state[k].present()) continue;
      read(run.state[k], first, n, state[k].elements);
      part.state[k] = place(run.state[k], first, state[k].elements);
    }
    f(part);
    const Noise noise{run.noise_key, scalars.update, run.first + static_cast<std::uint64_t>(first)};
    for (std::size_t k = 0; k < run.state.size(); ++k)
      if (run.state[k].present()) store<S>(part.state[k], run.state[k], first, static_cast<int>(k) + 1, noise, n);
    if (writes == Writes::gradient) {
      S* const out = place(run.gradient, first, read_gradient.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = gradient.elements[i];
      write(out, run.gradient, first, n);
    } else {
      store<S>(part.master, run.master, first, 0, noise, n);
      store_rounded<S>(part.master, run.rounded, first, gradient.elements, n);
    }
  });
}
template <Writes writes, class F> void update_run(const ElementUpdate& run, const UpdateScalars& scalars, F f) {
  in_compute_type(run.master.dtype, [&]<class S>() { update_run<S, writes>(run, scalars, f); });
}

}  // namespace

void adamw(const ElementUpdate& run, const AdamWCoefficients& coefficients, const UpdateScalars& scalars) {
  const auto t = static_cast<double>(scalars.update);
  const double correction1 = 1 - std::pow(coefficients.beta1, t), correction2 = 1 - std::pow(coefficients.beta2, t);
  in_compute_type(run.master.dtype, [&]<class S>() {
    over_chunks(run.master.elements(), [&](std::int64_t first, std::int64_t n) {
      adamw_chunk<S>(run, coefficients, scalars, correction1, correction2, first, n);
    });
  });
}

void sgd(const ElementUpdate& run, const SgdCoefficients& coefficients, const UpdateScalars& scalars) {
  update_run<Writes::master>(run, scalars, [&]<class S>(const UpdateChunk<S>& part) {
    const S rate = static_cast<S>(coefficients.learning_rate), keep = static_cast<S>(coefficients.momentum),
            decay = static_cast<S>(coefficients.weight_decay), straight = coefficients.nesterov ? S{1} : S{0},
            along = coefficients.nesterov ? keep : S{1};
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < part.n; ++i) {
      const S w = part.master[i], g = part.gradient[i] + decay * w, b = keep * part.state[0][i] + g;
      part.state[0][i] = b;
      part.master[i] = w - rate * (straight * g + along * b);
    }
  });
}

void lion(const ElementUpdate& run, const LionCoefficients& coefficients, const UpdateScalars& scalars) {
  update_run<Writes::master>(run, scalars, [&]<class S>(const UpdateChunk<S>& part) {
    const S keep1 = static_cast<S>(coefficients.beta1), take1 = static_cast<S>(1 - coefficients.beta1),
            keep2 = static_cast<S>(coefficients.beta2), take2 = static_cast<S>(1 - coefficients.beta2),
            rate = static_cast<S>(coefficients.learning_rate),
            decay = static_cast<S>(1 - coefficients.learning_rate * coefficients.weight_decay);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < part.n; ++i) {
      const S g = part.gradient[i], m = part.state[0][i], direction = keep1 * m + take1 * g;
      // What is not a number stays none: it must be seen.
      const S sign = direction > 0 ? S{1} : direction < 0 ? S{-1} : direction;
      part.master[i] = part.master[i] * decay - rate * sign;
      part.state[0][i] = keep2 * m + take2 * g;
    }
  });
}

void momentum_mean(const ElementUpdate& run, const MomentumCoefficients& coefficients, const UpdateScalars& scalars) {
  update_run<Writes::gradient>(run, scalars, [&]<class S>(const UpdateChunk<S>& part) {
    const S keep = static_cast<S>(coefficients.momentum), take = static_cast<S>(1 - coefficients.momentum);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < part.n; ++i) {
      const S g = part.gradient[i], m = keep * part.state[0][i] + take * g;
      part.state[0][i] = m;
      part.gradient[i] = coefficients.nesterov ? keep * m + take * g : m;
    }
  });
}

void step_along(const ElementUpdate& run, const DirectionCoefficients& coefficients, const UpdateScalars& scalars) {
  UpdateScalars as_it_is = scalars;
  as_it_is.gradient_scale = 1;
  as_it_is.clip_value = std::numeric_limits<double>::infinity();
  ElementUpdate stateless = run;
  stateless.state = {};
  update_run<Writes::master>(stateless, as_it_is, [&]<class S>(const UpdateChunk<S>& part) {
    const S rate = static_cast<S>(coefficients.learning_rate),
            decay = static_cast<S>(1 - coefficients.learning_rate * coefficients.weight_decay);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < part.n; ++i) part.master[i] = part.master[i] * decay - rate * part.gradient[i];
  });
}

void move_average(const ElementUpdate& run, const AverageCoefficients& coefficients, const UpdateScalars& scalars) {
  const double exact = kept_of_average(coefficients.decay, scalars.update);
  in_compute_type(run.master.dtype, [&]<class S>() {
    const S keep = static_cast<S>(exact), take = static_cast<S>(1 - exact);
    over_chunks(run.master.elements(), [&](std::int64_t first, std::int64_t n) {
      Buffer<S> master_buffer, average_buffer;
      const S* const w = read(run.master, first, n, master_buffer.elements);
      const S* const before = read(run.state[0], first, n, average_buffer.elements);
      S* const after = place(run.state[0], first, average_buffer.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) after[i] = keep * before[i] + take * w[i];
      store<S>(after, run.state[0], first, 1,
               {run.noise_key, scalars.update, run.first + static_cast<std::uint64_t>(first)}, n);
    });
  });
}

void update_chunks(const ElementUpdate& run, const UpdateScalars& scalars, const detail::ChunkFunction& function) {
  update_run<Writes::master>(run, scalars, [&]<class S>(const UpdateChunk<S>& part) {
    if constexpr (std::same_as<S, double>)
      function.fp64(function.context, part);
    else
      function.fp32(function.context, part);
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

constexpr std::int64_t norm_block = alignment_elements;  // no shard's border cuts one
constexpr std::int64_t norm_tasks = 64;

/// Joins what tasks find in runs of blocks of a flat view. `Found` has take(view, first element, elements) and
/// join(Found), whose grouping does not show: sums are exact, and so are maxima.
template <class Found> Found over_blocks(const View& x) {
  Found of_task[norm_tasks];
  const std::int64_t elements = x.elements(), blocks = ceil_div(elements, norm_block);
  parallel_for(norm_tasks, [&](std::int64_t task) {
    const std::int64_t end = (task + 1) * blocks / norm_tasks;
    for (std::int64_t i = task * blocks / norm_tasks; i < end; ++i)
      of_task[task].take(x, i * norm_block, least(norm_block, elements - i * norm_block));
  });
  for (std::int64_t task = 1; task < norm_tasks; ++task) of_task[0].join(of_task[task]);
  return of_task[0];
}

/// The sum of Term()(element), block by block in fp64.
template <class Term> struct FoundSum {
  ExactSum total;
  void take(const View& x, std::int64_t first, std::int64_t n) {
    Buffer<double> buffer;
    const double* in = read(x, first, n, buffer.elements);
    total.add(sum<double>(n, [in](auto at) { return Term()(at(in)); }));
  }
  void join(const FoundSum& other) { total.add(other.total); }
};
struct Square {
  template <class T> auto operator()(T x) const { return x * x; }
};
struct Magnitude {
  template <class T> auto operator()(T x) const { return x < 0 ? -x : x; }
};

struct FoundGreatest {
  double greatest = 0;  ///< NaN if any element is: a comparison alone would lose it
  void take(const View& x, std::int64_t first, std::int64_t n) {
    Buffer<double> buffer;
    const double* in = read(x, first, n, buffer.elements);
    double most = 0;
    bool nan = false;
    for (std::int64_t i = 0; i < n; ++i) {
      const double magnitude = std::fabs(in[i]);
      most = magnitude > most ? magnitude : most;
      nan |= magnitude != magnitude;
    }
    join({nan ? std::numeric_limits<double>::quiet_NaN() : most});
  }
  void join(const FoundGreatest& other) {
    greatest = greatest >= other.greatest || greatest != greatest ? greatest : other.greatest;
  }
};
}  // namespace

ExactSum sum_of_squares(View x) { return over_blocks<FoundSum<Square>>(x).total; }
ExactSum sum_of_magnitudes(View x) { return over_blocks<FoundSum<Magnitude>>(x).total; }
double greatest_magnitude(View x) { return over_blocks<FoundGreatest>(x).greatest; }

}  // namespace monomorph::cpu::MONOMORPH_ISA
