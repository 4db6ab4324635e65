#pragma once
#include "runtime/cuda/host/before_run.hpp"
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/optimizer/stochastic_rounding.hpp"
#include "runtime/cuda/optimizer/updates.hpp"

#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

/// Updates of runs of elements, in one pass over their buffers. A rule says how an element changes:
///
///   static constexpr const char* name;
///   using Coefficients;                              what an update is told, one of AnyCoefficients
///   static constexpr int n_state;                    buffers of state
///   static constexpr Writes writes;
///   template <class S> struct Factors;               what the elements of an update share, of type S
///   template <class S> static Factors<S> factors(const Coefficients&, const UpdateTerms&, const UpdateDecision&);
///   template <class S> static void update(const Factors<S>&, S& gradient, S& master, S* state);
///   static void owe(const Factors<float>&, float exact, float rounded, float* state);    of a bf16 master
///
/// Factors have `scale` and `bound` of the gradient besides. One thread of a block computes them, in fp64, as the
/// decision that they depend on lies in the GPU's memory.
namespace monomorph::cuda {
namespace {

constexpr unsigned update_threads = 256;
constexpr int update_width = 4;  ///< elements of an access: 16 bytes of fp32

/// What an update writes: the state, and beside it the master or the gradient. What it does not write of these two, it
/// does not read either, but for the gradient where it writes the master.
enum class Writes { master, gradient, state };

/// A run as a kernel gets it.
template <class G, class M, class State, int n_state> struct UpdateBuffers {
  G* gradient;
  M* master;
  State* state[n_state > 0 ? n_state : 1];
  AnyElements rounded;  ///< or null
  std::int64_t n;
  NoiseStream noise;  ///< without the update's number, which is not known yet

  static UpdateBuffers of(const ElementUpdate& run) {
    UpdateBuffers buffers{.gradient = run.gradient.as<G>(),
                          .master = run.master.as<M>(),
                          .state = {},
                          .rounded = {run.rounded.present() ? run.rounded.data : nullptr, run.rounded.dtype},
                          .n = run.master.elements(),
                          .noise = {run.noise_key[0], run.noise_key[1], run.first}};
    for (int k = 0; k < n_state; ++k) buffers.state[k] = run.state[k].template as<State>();
    return buffers;
  }
};

/// Some of the gradient, master and state, of one access each, as they are stored.
template <class G, class M, class State, int n_state> struct StoredElements {
  Pack<G, update_width> gradient;
  Pack<M, update_width> master;
  Pack<State, update_width> state[n_state > 0 ? n_state : 1];
};

template <class T> __device__ auto& pack_at(T* buffer, std::int64_t i) {
  return *reinterpret_cast<Pack<T, update_width>*>(buffer + i);
}

template <class S> __device__ S scaled_and_clipped(S gradient, S scale, S bound) {
  const S scaled = gradient * scale, capped = scaled > bound ? bound : scaled;
  return capped < -bound ? -bound : capped;
}

template <class Rule, class S, class G, class M, class State> struct Updater {
  static constexpr int n_state = Rule::n_state;
  static constexpr bool writes_master = Rule::writes == Writes::master, reads_master = Rule::writes != Writes::gradient;
  static constexpr bool writes_gradient = Rule::writes == Writes::gradient,
                        reads_gradient = Rule::writes != Writes::state;
  static constexpr bool rounds_master = writes_master && std::is_same_v<M, BFloat16>;
  static constexpr bool rounds_state = n_state > 0 && std::is_same_v<State, BFloat16>;
  /// Accesses of a thread to each buffer. What is rounded stochastically takes four, as four are the words of a
  /// counter.
  static constexpr int n_packs = rounds_master || rounds_state ? noise_words : 1;
  using Buffers = UpdateBuffers<G, M, State, n_state>;
  using Stored = StoredElements<G, M, State, n_state>;
  using Factors = typename Rule::template Factors<S>;
  using Words = NoiseWords<n_state + 1, update_width>;

  static __device__ Stored load(const Buffers& run, std::int64_t i) {
    Stored stored;
    if constexpr (reads_gradient) stored.gradient = pack_at(run.gradient, i);
    if constexpr (reads_master) stored.master = pack_at(run.master, i);
    MONOMORPH_UNROLL
    for (int k = 0; k < n_state; ++k) stored.state[k] = pack_at(run.state[k], i);
    return stored;
  }

  /// One element: from what is stored to what is stored.   @return the master before it is rounded
  static __device__ S change(const Factors& factors, Stored& stored, int at, const Words& words, int pack) {
    S gradient = 0, master = 0, state[n_state > 0 ? n_state : 1] = {};
    if constexpr (reads_gradient)
      gradient = scaled_and_clipped(converted<S>(stored.gradient.at[at]), factors.scale, factors.bound);
    if constexpr (reads_master) master = converted<S>(stored.master.at[at]);
    MONOMORPH_UNROLL
    for (int k = 0; k < n_state; ++k) state[k] = converted<S>(stored.state[k].at[at]);
    Rule::template update<S>(factors, gradient, master, state);
    if constexpr (writes_master) {
      stored.master.at[at] = rounded_as<M>(master, words.of(0, pack, at));
      if constexpr (rounds_master) Rule::owe(factors, master, widen(stored.master.at[at]), state);
    } else if constexpr (writes_gradient) {
      stored.gradient.at[at] = converted<G>(gradient);
    }
    MONOMORPH_UNROLL
    for (int k = 0; k < n_state; ++k) stored.state[k].at[at] = rounded_as<State>(state[k], words.of(k + 1, pack, at));
    return master;
  }

  static __device__ void change_pack(const Factors& factors, const Buffers& run, std::int64_t i, Stored stored,
                                     const Words& words, int pack) {
    Pack<S, update_width> master;
    MONOMORPH_UNROLL
    for (int at = 0; at < update_width; ++at) master.at[at] = change(factors, stored, at, words, pack);
    if constexpr (writes_master) {
      pack_at(run.master, i) = stored.master;
      if (run.rounded.present()) write_pack(master, run.rounded, i);
    } else if constexpr (writes_gradient) {
      pack_at(run.gradient, i) = stored.gradient;
    }
    MONOMORPH_UNROLL
    for (int k = 0; k < n_state; ++k) pack_at(run.state[k], i) = stored.state[k];
  }

  /// The elements of a thread from `first` on, all read before any is written.
  static __device__ void change_packs(const Factors& factors, const Buffers& run, std::int64_t first,
                                      std::uint64_t update) {
    Stored stored[n_packs];
    MONOMORPH_UNROLL
    for (int pack = 0; pack < n_packs; ++pack) stored[pack] = load(run, first + pack * noise_lanes);
    Words words;
    if constexpr (n_packs > 1) words.draw(run.noise, update, first);
    MONOMORPH_UNROLL
    for (int pack = 0; pack < n_packs; ++pack)
      change_pack(factors, run, first + pack * noise_lanes, stored[pack], words, pack);
  }

  /// The first element of a thread of the grid: accesses side by side, or those of a counter's lanes.
  static __device__ std::int64_t first_of(std::int64_t thread) {
    if constexpr (n_packs == 1) return thread * update_width;
    constexpr std::int64_t across = noise_lanes / update_width;
    return thread / across * noise_group + thread % across * update_width;
  }
};

/// The runs of a kernel: each has some blocks of its own, one behind the other.
template <class Buffers, class Coefficients> struct RunTable {
  static constexpr std::size_t capacity = 24;
  struct Run {
    Buffers buffers;
    Coefficients coefficients;
    UpdateTerms terms;
    unsigned first_block;
  };
  Run runs[capacity];
  int n = 0;
  unsigned n_blocks = 0;
  void add(const Buffers& buffers, const Coefficients& coefficients, const UpdateTerms& terms, unsigned blocks) {
    runs[n++] = {buffers, coefficients, terms, n_blocks};
    n_blocks += blocks;
  }
  __device__ unsigned blocks_of(int run) const {
    return (run + 1 < n ? runs[run + 1].first_block : n_blocks) - runs[run].first_block;
  }
  __device__ int run_of(unsigned block) const {
    int run = 0;
    while (run + 1 < n && runs[run + 1].first_block <= block) ++run;
    return run;
  }
};

template <class Updater, class Rule>
__global__ void __launch_bounds__(update_threads)
    update_elements(const __grid_constant__ RunTable<typename Updater::Buffers, typename Rule::Coefficients> table) {
  struct Shared {
    typename Updater::Factors factors;
  };
  const int place = table.run_of(blockIdx.x);
  const auto& run = table.runs[place];
  const UpdateDecision& decision = *run.terms.decision;
  if (!decision.applies) return;
  auto& shared = block_memory<Shared>();
  if (threadIdx.x == 0)
    shared.factors = Rule::template factors<std::remove_cvref_t<decltype(shared.factors.scale)>>(run.coefficients,
                                                                                                 run.terms, decision);
  __syncthreads();
  const typename Updater::Factors factors = shared.factors;
  const typename Updater::Buffers buffers = run.buffers;
  const std::int64_t block = blockIdx.x - run.first_block,
                     threads = static_cast<std::int64_t>(table.blocks_of(place)) * update_threads;
  for (std::int64_t thread = block * update_threads + threadIdx.x; Updater::first_of(thread) < buffers.n;
       thread += threads)
    Updater::change_packs(factors, buffers, Updater::first_of(thread), decision.update);
}

[[noreturn]] inline void refuse_run() {
  throw std::logic_error(
      "cuda updates are of runs of whole groups of 64 elements, which begin at multiples of 16 bytes, "
      "with a state of the master's dtype or of bf16 beside fp32");
}

/// Of blocks that take a few turns each: more would compute the factors too often, fewer would end at different times.
inline unsigned update_blocks(std::int64_t n, std::int64_t block_elements) {
  constexpr std::int64_t turns = 8, many = 2048;
  const std::int64_t all = (n + block_elements - 1) / block_elements;
  return static_cast<unsigned>(smaller_of(all, most_blocks(larger_of(many, all / turns))));
}

/// The first updates, as many as a table has room for, as one kernel.   @return the others
template <class Rule, class S, class G, class M, class State>
std::span<const Update> start_table(Queue queue, std::span<const Update> updates) {
  using Updating = Updater<Rule, S, G, M, State>;
  using Buffers = typename Updating::Buffers;
  using Told = typename Rule::Coefficients;
  constexpr std::int64_t block_elements = std::int64_t{update_threads} * update_width * Updating::n_packs;
  RunTable<Buffers, Told> table{};
  static_assert(sizeof table <= 4096, "as many bytes of arguments has a kernel of any architecture");
  const std::size_t n = std::min(updates.size(), table.capacity);
  for (const Update& update : updates.first(n)) {
    UpdateTerms on_gpu = update.terms;
    on_gpu.of_run = read_before_run(on_gpu.of_run);
    table.add(Buffers::of(update.run), std::get<Told>(update.coefficients), on_gpu,
              update_blocks(update.run.master.elements(), block_elements));
  }
  launch(update_elements<Updating, Rule>, {table.n_blocks, update_threads}, queue, table);
  return updates.subspan(n);
}
template <class Rule, class S, class G, class M, class State>
void start_tables(Queue queue, std::span<const Update> updates) {
  while (!updates.empty()) updates = start_table<Rule, S, G, M, State>(queue, updates);
}

/// The same, once the dtype of the state is known.
template <class Rule, class S, class G, class M> void choose_state(Queue queue, std::span<const Update> updates) {
  const ElementUpdate& run = updates.front().run;
  if (Rule::n_state == 0 || run.state[0].dtype == run.master.dtype)
    return start_tables<Rule, S, G, M, M>(queue, updates);
  if constexpr (Rule::n_state > 0 && std::is_same_v<M, float>)
    if (run.state[0].dtype == DType::bf16) return start_tables<Rule, S, G, M, BFloat16>(queue, updates);
  refuse_run();
}

template <class Rule, class G> void choose_master(Queue queue, std::span<const Update> updates) {
  const DType master = updates.front().run.master.dtype;
  if (master == DType::fp32) return choose_state<Rule, float, G, float>(queue, updates);
  if (master == DType::bf16) return choose_state<Rule, float, G, BFloat16>(queue, updates);
  refuse_run();
}

template <class Rule> bool is_whole(const ElementUpdate& run) {
  bool whole =
      run.master.elements() % noise_group == 0 && run.first % noise_group == 0 && size_of(run.rounded.dtype) > 1;
  for (const View* view : {&run.gradient, &run.master, &run.rounded}) whole = whole && starts_access(view->data);
  for (int k = 0; k < Rule::n_state; ++k)
    whole = whole && starts_access(run.state[k].data) && run.state[k].dtype == run.state[0].dtype;
  return whole;
}

/// Updates runs by a rule, if the step's decision, in the GPU's memory, applies.
template <class Rule> void update_runs(Queue queue, std::span<const Update> updates) {
  const KernelSpan span(Work::optimizer, Rule::name, queue.stream);
  for (const Update& update : updates)
    if (!is_whole<Rule>(update.run)) refuse_run();
  const DType gradient = updates.front().run.gradient.dtype, master = updates.front().run.master.dtype;
  if (gradient == DType::fp64 && master == DType::fp64)
    choose_state<Rule, double, double, double>(queue, updates);
  else if (gradient == DType::fp32)
    choose_master<Rule, float>(queue, updates);
  else if (gradient == DType::bf16)
    choose_master<Rule, BFloat16>(queue, updates);
  else
    refuse_run();
}

}  // namespace
}  // namespace monomorph::cuda
