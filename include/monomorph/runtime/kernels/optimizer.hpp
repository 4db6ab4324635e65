#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/policy/optimizer_policy.hpp>
#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <utility>

namespace monomorph {

/// What all updates of an optimiser step share: what the host knows of it, and where it was decided.
struct UpdateTerms {
  const UpdateDecision* decision;                               ///< in the device's memory: for kernels to read
  double clip_value = std::numeric_limits<double>::infinity();  ///< bound of each scaled gradient element
  double rate_times = 1, rate_over = 1;                         ///< of the learning rate's schedule
  /// Of kernels that a device records (train/step/recorded_step.hpp): where the host says before each run by what a
  /// peak rate is multiplied, beside rate_times. Null: it is here.
  const ScheduledRate* of_run = nullptr;
  /// The learning rate of this step, or where that is said before each run the peak, for kernels to multiply.
  /// @param peak as a hyperparameter gives it
  double rate(double peak) const { return of_run != nullptr ? peak : peak * rate_times / rate_over; }
};

/// A run of elements of the shard that a rank holds of a unit, of tensors of one class and group: flat, contiguous
/// views of equal length, a multiple of 64.
struct ElementUpdate {
  View gradient, master;
  std::array<View, StateBuffers::capacity> state{};  ///< as many as the optimiser keeps for the class
  View rounded{};                                    ///< compute's copy of the master, if it is not the master itself
  ParameterClass parameter_class = ParameterClass::linear;
  /// Stochastic rounding gives an element the same random bits however buffers are cut: of a unit by its key, of an
  /// update by its number, of an element by its place in the unit.
  std::array<std::uint32_t, 2> noise_key{};
  std::uint64_t first = 0;    ///< place of the run's first element in the unit, a multiple of 64
  Multipliers multipliers{};  ///< those of the group, which optim::Grouped has put into the rates that an update sees
};

/// What an update is told besides, by its name.
struct AdamWCoefficients {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
};
struct SgdCoefficients {
  double learning_rate, momentum;
  bool nesterov;
  double weight_decay;
};
struct LionCoefficients {
  double learning_rate, beta1, beta2, weight_decay;
};
struct MomentumCoefficients {
  double momentum;
  bool nesterov;
};
struct DirectionCoefficients {
  double learning_rate, weight_decay;
};

struct AverageCoefficients {
  double decay;
};

/// A device that can start the updates of several runs as one kernel: join_updates(queue, f) calls f with a queue of
/// the type Updates, on which they may wait until f returns, and which becomes a queue of the device for other kernels.
/// A queue that derives from that of another device has kernels of its own, and joins only what it joins itself.
template <class Queue>
concept JoinsUpdates = std::convertible_to<typename Queue::Updates, Queue> &&
    requires(Queue queue, void (*f)(typename Queue::Updates)) {
  join_updates(queue, f);
};

namespace detail {
template <class Queue> struct UpdatesOf { using type = Queue; };
template <JoinsUpdates Queue> struct UpdatesOf<Queue> { using type = typename Queue::Updates; };
}  // namespace detail
/// The queue with which an optimiser is called.
template <class Queue> using UpdatesOf = typename detail::UpdatesOf<Queue>::type;

/// Calls f with a queue for updates of runs and of whole matrices. Those that share elements run in the order of their
/// calls; the others may run together.
template <class Queue, class F> void update_together(Queue queue, F&& f) {
  if constexpr (JoinsUpdates<Queue>)
    join_updates(queue, f);
  else
    f(queue);
}

/// Some of a run's elements, as they are computed with: in fp64 if the master is, in fp32 otherwise.
template <class S> struct UpdateChunk {
  std::int64_t n;
  S* gradient;  ///< scaled and clipped
  S* master;
  std::array<S*, StateBuffers::capacity> state;
};

}  // namespace monomorph

/// Updates of a run of elements, which change nothing if the step has decided so. All read the gradient, update master
/// and state, and write the master's rounded copy if there is one. bf16 buffers are rounded stochastically: up with the
/// probability of what is cut off, so that updates too small for bf16 are taken in the mean (Gupta et al. 2015, section
/// 3).
namespace monomorph::cpu {

/// Decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2). What rounding takes from a bf16 master is added to
/// the first moment such that the next steps make it good: errors don't add up (docs/why/rounded_masters.md).
void adamw(Queue, const ElementUpdate& run, const AdamWCoefficients& coefficients, const UpdateTerms& terms);

/// With g the gradient plus weight_decay times the master: b = momentum b + g, and the master loses the rate times b,
/// or with Nesterov times g + momentum b.
void sgd(Queue, const ElementUpdate& run, const SgdCoefficients& coefficients, const UpdateTerms& terms);

/// Chen et al. 2023, algorithm 2. The sign of zero is zero.
void lion(Queue, const ElementUpdate& run, const LionCoefficients& coefficients, const UpdateTerms& terms);

/// m = momentum m + (1 - momentum) g. The gradient becomes m, or with Nesterov momentum m + (1 - momentum) g. The
/// master stays as it is.
void momentum_mean(Queue, const ElementUpdate& run, const MomentumCoefficients& coefficients, const UpdateTerms& terms);

/// The master loses the rate times (gradient + weight_decay times master), with the gradient as it is: neither scaled
/// nor clipped.
void step_along(Queue, const ElementUpdate& run, const DirectionCoefficients& coefficients, const UpdateTerms& terms);

/// Polyak and Juditsky's (1992) mean of the masters after updates, as long as that gives each a greater share than
/// 1 - decay, and from then on the exponential one: with t the number of the update and k = min(decay, 1 - 1 / t) the
/// only state becomes k state + (1 - k) master. Nothing else is read or written.
void move_average(Queue, const ElementUpdate& run, const AverageCoefficients& coefficients, const UpdateTerms& terms);

/// The matrix, made nearly orthogonal: singular values near 1, by iterations of Newton and Schulz with the
/// coefficients of Jordan et al. 2024, who take five, and then times the root of squared_scale. Computed in the
/// workspace's dtype; no bit depends on the number of threads.
/// @param workspace as many elements as optim::Muon::workspace_elements says
void orthogonalize(Queue, View matrix, View workspace, double squared_scale, std::int64_t iterations);

namespace detail {
struct ChunkFunction {
  const void* context;
  void (*fp32)(const void* context, const UpdateChunk<float>& chunk);
  void (*fp64)(const void* context, const UpdateChunk<double>& chunk);
};
/// @throws Error [KERNEL-08] if the run has not n_state buffers of state
void update_chunks(const ElementUpdate& run, const UpdateTerms& terms, const ChunkFunction& function, int n_state);

template <class F, class S, std::size_t... k>
void each_of_chunk(const F& f, const UpdateChunk<S>& chunk, std::index_sequence<k...>) {
  for (std::int64_t i = 0; i < chunk.n; ++i) f(chunk.gradient[i], chunk.master[i], chunk.state[k][i]...);
}
template <int n_state, class F, class S> void call_each(const void* f, const UpdateChunk<S>& chunk) {
  each_of_chunk(*static_cast<const F*>(f), chunk, std::make_index_sequence<n_state>{});
}
}  // namespace detail

/// An update with arithmetic of the caller's own, from several threads: f(g, w, s…) with an element of the gradient,
/// and references to those of the master and of n_state buffers of state, all float or all double: of as many as the
/// optimiser's state(ParameterClass) names for the run's class.
template <int n_state, class F>
void each_element(Queue, const ElementUpdate& run, const UpdateTerms& terms, const F& f) {
  static_assert(n_state <= StateBuffers::capacity);
  detail::update_chunks(run, terms, {&f, detail::call_each<n_state, F, float>, detail::call_each<n_state, F, double>},
                        n_state);
}

}  // namespace monomorph::cpu

namespace monomorph::cpu {

/// Norms of a gradient shard. Blocks of 64 elements, which no shard's border cuts, are summed in fp64 and then added
/// exactly: how a buffer is cut into shards does not show.
ExactSum sum_of_squares(Queue, View x);
ExactSum sum_of_magnitudes(Queue, View x);
double greatest_magnitude(Queue, View x);  ///< NaN if any element is
/// One of these, as the norm needs it, joins what other shards have given.
void add_to_norm(Queue, View x, GradientNorm order, PartialGradientNorm* norm);

}  // namespace monomorph::cpu
