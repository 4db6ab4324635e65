#include "runtime/cuda/optimizer/update_elements.hpp"

#include <cmath>
#include <limits>

// The arithmetic is that of src/runtime/isa/optimizer.cpp, in its order: the bits are those of a CPU that fuses no
// product with a sum. Only std::pow of AdamW's bias corrections may differ in the last bit of fp64.
namespace monomorph::cuda {
namespace {

/// The learning rate, of which a kernel that is recorded gets the peak: as UpdateTerms::rate computes it.
__device__ inline double rate_of_run(double rate, const UpdateTerms& terms) {
  if (terms.of_run == nullptr) return rate;
  return rate * (terms.of_run->times * terms.rate_times) / terms.of_run->over;
}

/// Of rules that take nothing back of what rounding to bf16 took.
struct OwesNothing {
  template <class Factors> static __device__ void owe(const Factors&, float, float, float*) {}
};

struct AdamW {
  using Coefficients = AdamWCoefficients;
  static constexpr const char* name = "adamw";
  static constexpr int n_state = 2;
  static constexpr Writes writes = Writes::master;
  template <class S> struct Factors { S scale, bound, keep1, take1, keep2, take2, decay, rate, epsilon, unbias2; };
  template <class S>
  static __device__ Factors<S> factors(const AdamWCoefficients& step, const UpdateTerms& terms,
                                       const UpdateDecision& decision) {
    const auto t = static_cast<double>(decision.update);
    const double correction1 = 1 - std::pow(step.beta1, t), correction2 = 1 - std::pow(step.beta2, t);
    const double rate = rate_of_run(step.learning_rate, terms);
    return {static_cast<S>(decision.gradient_scale),
            static_cast<S>(terms.clip_value),
            static_cast<S>(step.beta1),
            static_cast<S>(1 - step.beta1),
            static_cast<S>(step.beta2),
            static_cast<S>(1 - step.beta2),
            static_cast<S>(1 - rate * step.weight_decay),
            static_cast<S>(rate / correction1),
            static_cast<S>(step.epsilon),
            static_cast<S>(1 / std::sqrt(correction2))};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S& g, S& w, S* state) {
    const S m = of.keep1 * state[0] + of.take1 * g, v = of.keep2 * state[1] + of.take2 * g * g;
    state[0] = m;
    state[1] = v;
    w = w * of.decay - of.rate * m / (std::sqrt(v) * of.unbias2 + of.epsilon);
  }

  /// The distance between the bf16 numbers around x.
  static __device__ float bf16_spacing(float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7F80'0000u) * 0x1p-7f;
  }
  /// The first moment makes good what rounding took from a bf16 master (docs/why/rounded_masters.md).
  static __device__ void owe(const Factors<float>& of, float exact, float rounded, float* state) {
    constexpr float most_rates = 16;
    const float factor = of.keep1 > 0 ? of.take1 / of.keep1 : 0;
    const float spacing = bf16_spacing(exact), bound = most_rates * of.rate;
    const float share = spacing > bound ? bound / spacing : 1;
    const float rates = share * (exact - rounded) / (of.rate + std::numeric_limits<float>::min());
    state[0] = state[0] - factor * rates * (std::sqrt(state[1]) * of.unbias2 + of.epsilon);
  }
};

struct Sgd : OwesNothing {
  using Coefficients = SgdCoefficients;
  static constexpr const char* name = "sgd";
  static constexpr int n_state = 1;
  static constexpr Writes writes = Writes::master;
  template <class S> struct Factors { S scale, bound, rate, keep, decay, straight, along; };
  template <class S>
  static __device__ Factors<S> factors(const SgdCoefficients& step, const UpdateTerms& terms,
                                       const UpdateDecision& decision) {
    const S keep = static_cast<S>(step.momentum);
    return {static_cast<S>(decision.gradient_scale),
            static_cast<S>(terms.clip_value),
            static_cast<S>(rate_of_run(step.learning_rate, terms)),
            keep,
            static_cast<S>(step.weight_decay),
            step.nesterov ? S{1} : S{0},
            step.nesterov ? keep : S{1}};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S& gradient, S& w, S* state) {
    const S g = gradient + of.decay * w, b = of.keep * state[0] + g;
    state[0] = b;
    w = w - of.rate * (of.straight * g + of.along * b);
  }
};

struct Lion : OwesNothing {
  using Coefficients = LionCoefficients;
  static constexpr const char* name = "lion";
  static constexpr int n_state = 1;
  static constexpr Writes writes = Writes::master;
  template <class S> struct Factors { S scale, bound, keep1, take1, keep2, take2, rate, decay; };
  template <class S>
  static __device__ Factors<S> factors(const LionCoefficients& step, const UpdateTerms& terms,
                                       const UpdateDecision& decision) {
    const double rate = rate_of_run(step.learning_rate, terms);
    return {static_cast<S>(decision.gradient_scale),
            static_cast<S>(terms.clip_value),
            static_cast<S>(step.beta1),
            static_cast<S>(1 - step.beta1),
            static_cast<S>(step.beta2),
            static_cast<S>(1 - step.beta2),
            static_cast<S>(rate),
            static_cast<S>(1 - rate * step.weight_decay)};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S& g, S& w, S* state) {
    const S m = state[0], direction = of.keep1 * m + of.take1 * g;
    // What is not a number stays none: it must be seen.
    const S sign = direction > 0 ? S{1} : direction < 0 ? S{-1} : direction;
    w = w * of.decay - of.rate * sign;
    state[0] = of.keep2 * m + of.take2 * g;
  }
};

struct MomentumMean : OwesNothing {
  using Coefficients = MomentumCoefficients;
  static constexpr const char* name = "momentum_mean";
  static constexpr int n_state = 1;
  static constexpr Writes writes = Writes::gradient;
  template <class S> struct Factors {
    S scale, bound, keep, take;
    bool nesterov;
  };
  template <class S>
  static __device__ Factors<S> factors(const MomentumCoefficients& step, const UpdateTerms& terms,
                                       const UpdateDecision& decision) {
    return {static_cast<S>(decision.gradient_scale), static_cast<S>(terms.clip_value), static_cast<S>(step.momentum),
            static_cast<S>(1 - step.momentum), step.nesterov};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S& gradient, S&, S* state) {
    const S g = gradient, m = of.keep * state[0] + of.take * g;
    state[0] = m;
    gradient = of.nesterov ? of.keep * m + of.take * g : m;
  }
};

struct StepAlong : OwesNothing {
  using Coefficients = DirectionCoefficients;
  static constexpr const char* name = "step_along";
  static constexpr int n_state = 0;
  static constexpr Writes writes = Writes::master;
  template <class S> struct Factors { S scale, bound, rate, decay; };
  template <class S>
  static __device__ Factors<S> factors(const DirectionCoefficients& step, const UpdateTerms& terms,
                                       const UpdateDecision&) {
    const double rate = rate_of_run(step.learning_rate, terms);
    return {S{1}, std::numeric_limits<S>::infinity(), static_cast<S>(rate),
            static_cast<S>(1 - rate * step.weight_decay)};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S& direction, S& w, S*) {
    w = w * of.decay - of.rate * direction;
  }
};

struct MovingAverage : OwesNothing {
  using Coefficients = AverageCoefficients;
  static constexpr const char* name = "move_average";
  static constexpr int n_state = 1;
  static constexpr Writes writes = Writes::state;
  template <class S> struct Factors { S scale, bound, keep, take; };
  template <class S>
  static __device__ Factors<S> factors(const AverageCoefficients& average, const UpdateTerms&,
                                       const UpdateDecision& decision) {
    const double mean = 1 - 1 / static_cast<double>(decision.update),
                 keep = mean < average.decay ? mean : average.decay;
    return {S{1}, std::numeric_limits<S>::infinity(), static_cast<S>(keep), static_cast<S>(1 - keep)};
  }
  template <class S> static __device__ void update(const Factors<S>& of, S&, S& w, S* state) {
    state[0] = of.keep * state[0] + of.take * w;
  }
};

template <class... Rules> void update_by_one_of(Queue queue, std::span<const Update> updates) {
  static_assert(sizeof...(Rules) == std::variant_size_v<AnyCoefficients>);
  const AnyCoefficients& told = updates.front().coefficients;
  ((std::holds_alternative<typename Rules::Coefficients>(told) ? update_runs<Rules>(queue, updates) : void()), ...);
}

}  // namespace

void start_updates(Queue queue, std::span<const Update> updates) {
  update_by_one_of<AdamW, Sgd, Lion, MomentumMean, StepAlong, MovingAverage>(queue, updates);
}

}  // namespace monomorph::cuda
