#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include "runtime/isa/random_words.hpp"
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"

namespace monomorph::kernels::MONOMORPH_ISA {
namespace {

/// To bf16, away from zero with the probability of the part that is cut off. What is not finite stays what it is.
inline std::uint16_t narrow_at_random(float x, std::uint32_t sixteen_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool finite = (bits & 0x7F80'0000u) != 0x7F80'0000u;
  return finite ? static_cast<std::uint16_t>((bits + sixteen_bits) >> 16) : narrow(x);
}

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
struct Debt {
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

/// A run of the three bf16 buffers from what they would be exactly: 48 random bits an element.
void write_at_random(const float* w, const float* m, const float* v, std::uint16_t* master, std::uint16_t* moment1,
                     std::uint16_t* moment2, const Debt& debt, const RoundingNoise& noise, std::int64_t first,
                     std::int64_t n) {
  alignas(64) std::uint32_t words[random_group], more_words[random_group];
  for (std::int64_t i = 0; i < n; i += random_group) {
    const auto group = static_cast<std::uint32_t>((noise.first + static_cast<std::uint64_t>(first + i)) / random_group);
    random_words(noise.key, group, 0, noise.update, words);
    random_words(noise.key, group, 1, noise.update, more_words);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t j = 0; j < random_group; ++j) {
      master[i + j] = narrow_at_random(w[i + j], words[j] & 0xFFFFu);
      const float owed = debt.of(w[i + j], widen(master[i + j]), v[i + j]);
      moment1[i + j] = narrow_at_random(m[i + j] - owed, words[j] >> 16);
      moment2[i + j] = narrow_at_random(v[i + j], more_words[j] & 0xFFFFu);
    }
  }
}

template <class S>
void adamw_run(const View& gradient, const View& master, const View& moment1, const View& moment2,
               const View& low_precision, const AdamWStep& step, const RoundingNoise& noise, std::int64_t first,
               std::int64_t n) {
  Buffer<S> gradient_buffer, master_buffer, moment1_buffer, moment2_buffer;
  const S* grad = read(gradient, first, n, gradient_buffer.elements);
  const S* w_in = read(master, first, n, master_buffer.elements);
  const S* m_in = read(moment1, first, n, moment1_buffer.elements);
  const S* v_in = read(moment2, first, n, moment2_buffer.elements);
  S* w_out = place(master, first, master_buffer.elements);
  S* m_out = place(moment1, first, moment1_buffer.elements);
  S* v_out = place(moment2, first, moment2_buffer.elements);
  const S scale = static_cast<S>(step.gradient_scale), bound = static_cast<S>(step.clip_value);
  const S keep1 = static_cast<S>(step.beta1), take1 = static_cast<S>(1 - step.beta1);
  const S keep2 = static_cast<S>(step.beta2), take2 = static_cast<S>(1 - step.beta2);
  const S decay = static_cast<S>(1 - step.learning_rate * step.weight_decay);
  const S rate = static_cast<S>(step.learning_rate / step.bias_correction1), epsilon = static_cast<S>(step.epsilon);
  const S unbias2 = static_cast<S>(1 / std::sqrt(step.bias_correction2));
  MONOMORPH_ELEMENTWISE
  for (std::int64_t i = 0; i < n; ++i) {
    const S scaled = grad[i] * scale, capped = scaled > bound ? bound : scaled, g = capped < -bound ? -bound : capped;
    const S m = keep1 * m_in[i] + take1 * g, v = keep2 * v_in[i] + take2 * g * g;
    m_out[i] = m;
    v_out[i] = v;
    w_out[i] = w_in[i] * decay - rate * m / (std::sqrt(v) * unbias2 + epsilon);
  }
  if constexpr (std::same_as<S, float>) {
    if (master.dtype == DType::bf16) {
      write_at_random(w_out, m_out, v_out, master.as<std::uint16_t>() + first, moment1.as<std::uint16_t>() + first,
                      moment2.as<std::uint16_t>() + first, {keep1 > 0 ? take1 / keep1 : 0, rate, unbias2, epsilon},
                      noise, first, n);
      return;  // compute reads the master itself
    }
  }
  write(m_out, moment1, first, n);
  write(v_out, moment2, first, n);
  write(w_out, master, first, n);
  if (low_precision.present()) {
    S* copy = place(low_precision, first, gradient_buffer.elements);
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) copy[i] = w_out[i];
    write(copy, low_precision, first, n);
  }
}

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

void adamw(View gradient, View master, View moment1, View moment2, View low_precision, const AdamWStep& step,
           const RoundingNoise& noise) {
  const std::int64_t elements = master.elements();
  in_compute_type(master.dtype, [&]<class S>() {
    parallel_for(ceil_div(elements, task_elements), [&](std::int64_t task) {
      const std::int64_t end = least(elements, (task + 1) * task_elements);
      for (std::int64_t first = task * task_elements; first < end; first += chunk) {
        adamw_run<S>(gradient, master, moment1, moment2, low_precision, step, noise, first, least(chunk, end - first));
      }
    });
  });
}

ExactSum sum_of_squares(View x) { return over_blocks<FoundSum<Square>>(x).total; }
ExactSum sum_of_magnitudes(View x) { return over_blocks<FoundSum<Magnitude>>(x).total; }
double greatest_magnitude(View x) { return over_blocks<FoundGreatest>(x).greatest; }

}  // namespace monomorph::kernels::MONOMORPH_ISA
