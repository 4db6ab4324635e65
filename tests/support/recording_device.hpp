#pragma once
#include <sys/mman.h>
#include <monomorph/device/cpu.hpp>
#include <monomorph/runtime/kernels/kernel_sets.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>
#include <monomorph/runtime/memory/arena.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

/// A second device: its kernels run when they are waited for and not when they are called, and nobody but they can
/// reach its memory. What reads or writes there outside of a kernel, and is not a copy to or from the host, ends the
/// program. So it shows what a program does where its device runs ahead of the host and has a memory of its own, as a
/// GPU.
namespace monomorph::recorder {

/// The device of a thread: ranks that are threads have one each.
class Recorder {
 public:
  void add(std::function<void()> kernel) { kernels_.push_back(std::move(kernel)), ++recorded_; }
  /// Runs what was recorded, and then f.
  void run(const std::function<void()>& f = [] {}) {
    const auto kernels = std::exchange(kernels_, {});
    ran_ += static_cast<std::int64_t>(kernels.size());
    const Reach reach(*this);
    for (const auto& kernel : kernels) kernel();
    f();
    for (const auto& [owner, settle] : beside_) settle();
  }
  /// What runs beside kernels and has begun among them goes on as long as the memory is within reach, and no longer.
  /// @param owner calls leave() when it ends   @param settle returns when it is done
  void join(const void* owner, std::function<void()> settle) { beside_[owner] = std::move(settle); }
  void leave(const void* owner) { beside_.erase(owner); }
  void note_copy(std::int64_t bytes) { largest_copy_ = std::max(largest_copy_, bytes); }
  std::byte* allocate(std::int64_t bytes) {
    std::byte* const memory = main_memory.allocate(bytes);
    memories_[memory] = bytes;
    protect(PROT_NONE);
    return memory;
  }
  void release(std::byte* memory, std::int64_t bytes) {
    run();
    memories_.erase(memory);
    main_memory.release(memory, bytes);
  }
  std::int64_t recorded() const { return recorded_; }
  std::int64_t ran() const { return ran_; }
  /// Of those between host and device, in bytes, since this was called before.
  std::int64_t largest_copy() { return std::exchange(largest_copy_, 0); }
  static Recorder& the() {
    thread_local Recorder recorder;
    return recorder;
  }

 private:
  /// The memory is within reach as long as this lives, whatever a kernel throws.
  struct Reach {
    const Recorder& recorder;
    explicit Reach(const Recorder& of) : recorder(of) { recorder.protect(PROT_READ | PROT_WRITE); }
    ~Reach() { recorder.protect(PROT_NONE); }
  };
  void protect(int how) const {
    for (const auto& [memory, bytes] : memories_)
      if (mprotect(memory, bytes, how) != 0) std::abort();
  }
  std::vector<std::function<void()>> kernels_;
  std::map<std::byte*, std::int64_t> memories_;
  std::map<const void*, std::function<void()>> beside_;
  std::int64_t recorded_ = 0, ran_ = 0, largest_copy_ = 0;
};

/// Token ids lie in the host's memory, where the next batch may be when a kernel runs: a kernel keeps those that it was
/// called with, as a device copies them when it is called.
class Ids {
 public:
  Ids(const std::int32_t* ids, std::int64_t n) : given_(ids != nullptr) {
    if (given_) kept_.assign(ids, ids + n);
  }
  operator const std::int32_t*() const { return given_ ? kept_.data() : nullptr; }

 private:
  bool given_;
  std::vector<std::int32_t> kept_;
};

class KeptTokens {
 public:
  explicit KeptTokens(const PagedTokens& tokens)
      : tokens_(tokens),
        origins_(tokens.origins_B, tokens.tokens),
        sequences_(tokens.sequences_B, tokens.tokens),
        pages_(tokens.pages_SP, tokens.sequences * tokens.pages_per_sequence) {}
  PagedTokens tokens() const {
    PagedTokens kept = tokens_;
    kept.origins_B = origins_, kept.sequences_B = sequences_, kept.pages_SP = pages_;
    return kept;
  }

 private:
  PagedTokens tokens_;
  Ids origins_, sequences_, pages_;
};

class KeptSequences {
 public:
  explicit KeptSequences(const SequenceBatch& sequences)
      : sequences_(sequences),
        targets_(sequences.targets_M, sequences.loss_M.elements()),
        starts_(sequences.document_starts_M, sequences.loss_M.elements()),
        reference_(sequences.reference_BK, sequences.reference_BK + sequences.samples() * sequences.sequences) {}
  SequenceBatch sequences() const {
    SequenceBatch kept = sequences_;
    kept.targets_M = targets_, kept.document_starts_M = starts_, kept.reference_BK = reference_.data();
    return kept;
  }

 private:
  SequenceBatch sequences_;
  Ids targets_, starts_;
  std::vector<double> reference_;
};

class KeptLogits {
 public:
  explicit KeptLogits(const TokenLogits& logits)
      : logits_(logits), targets_(logits.targets_C, logits.logits_CV.shape.rows) {}
  TokenLogits logits() const {
    TokenLogits kept = logits_;
    kept.targets_C = targets_;
    return kept;
  }

 private:
  TokenLogits logits_;
  Ids targets_;
};

struct Queue {};

inline void synchronize(Queue) { Recorder::the().run(); }

inline const Allocator& allocator(Queue) {
  static constexpr Allocator of_recorder{.allocate = [](std::int64_t bytes) { return Recorder::the().allocate(bytes); },
                                         .release = [](std::byte* memory,
                                                       std::int64_t bytes) { Recorder::the().release(memory, bytes); }};
  return of_recorder;
}
inline const Allocator& host_allocator(Queue) { return main_memory; }
inline View place_on_host(Queue, View view, HostBuffer& buffer) {
  if (!view.present()) return view;
  buffer.resize(view.bytes());
  return {buffer.data(), view.dtype, view.shape};
}
/// Numbers, or bytes, which no kernel copies.
inline void copy_across(View from, View to) {
  if (from.dtype == DType::u8)
    std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes()));
  else
    cpu::copy(cpu::Queue{}, from, to);
}
inline View copy_to_host(Queue queue, View view, HostBuffer& buffer) {
  const View place = place_on_host(queue, view, buffer);
  Recorder::the().note_copy(view.bytes());
  Recorder::the().run([&] { copy_across(view, place); });
  return place;
}
inline void copy_from_host(Queue, View place, View view) {
  Recorder::the().note_copy(view.bytes());
  Recorder::the().run([&] { copy_across(place, view); });
}

inline DeviceUse device_use(Queue) { return cpu::device_use(cpu::Queue{}); }

struct Device {
  static constexpr std::string_view name = "Recording";
  using Queue = recorder::Queue;
  using kernel_sets = EveryKernelSet;
  static constexpr bool own_memory = true;
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t padded_vocab) {
    return device::Cpu::loss_chunk_tokens(padded_vocab);
  }
};
static_assert(DevicePolicy<Device>);

template <class F> void once(Queue, F&& f) { Recorder::the().add(std::forward<F>(f)); }

/// Those of a thread beside the kernels, which are done whenever the memory goes out of reach, unless they are as late
/// as can be.
class RecordedTransfers : public QueuedTransfers<Queue> {
 public:
  RecordedTransfers(Queue queue, Transfers::Timing timing) : QueuedTransfers(queue, timing) {
    if (timing == Transfers::Timing::at_once) Recorder::the().join(this, [this] { transfers_.wait_for_all(); });
  }
  RecordedTransfers(const RecordedTransfers&) = delete;
  ~RecordedTransfers() { Recorder::the().leave(this); }
};
inline RecordedTransfers transfers(Queue queue, Transfers::Timing timing) { return {queue, timing}; }
template <class F> void side_by_side(Queue, std::int64_t n, F&& f) {
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

/// A kernel runs later, with the arguments that it has now; the second macro is for one with an id for each row of a
/// view.
#define MONOMORPH_LATER(kernel, parameters, ...)                          \
  inline void kernel(Queue, MONOMORPH_TEST_LISTED parameters) {           \
    Recorder::the().add([=] { cpu::kernel(cpu::Queue{}, __VA_ARGS__); }); \
  }
#define MONOMORPH_LATER_WITH_IDS(kernel, ids, rows_of, parameters, ...)                                       \
  inline void kernel(Queue, MONOMORPH_TEST_LISTED parameters) {                                               \
    Recorder::the().add([=, ids = Ids(ids, rows_of.shape.rows)] { cpu::kernel(cpu::Queue{}, __VA_ARGS__); }); \
  }
#define MONOMORPH_TEST_LISTED(...) __VA_ARGS__
using Starts = const std::int32_t*;
MONOMORPH_LATER(gelu_exact, (View h, View y), h, y)
MONOMORPH_LATER(gelu_exact_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER(gelu_tanh, (View h, View y), h, y)
MONOMORPH_LATER(gelu_tanh_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER(relu_squared, (View h, View y), h, y)
MONOMORPH_LATER(relu_squared_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER(swiglu, (View h, View y), h, y)
MONOMORPH_LATER(swiglu_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER(geglu_exact, (View h, View y), h, y)
MONOMORPH_LATER(geglu_exact_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER(geglu_tanh, (View h, View y), h, y)
MONOMORPH_LATER(geglu_tanh_backward, (View h, View dy, View dh), h, dy, dh)
MONOMORPH_LATER_WITH_IDS(tiled_attention, starts, q,
                         (View q, View k, View v, View out, View lse, AttentionShape shape, AttentionMask mask,
                          Starts starts = nullptr),
                         q, k, v, out, lse, shape, mask, starts)
MONOMORPH_LATER_WITH_IDS(tiled_attention_backward, starts, q,
                         (View q, View k, View v, View out, View lse, View dout, View dq, View dk, View dv,
                          AttentionShape shape, AttentionMask mask, Starts starts = nullptr),
                         q, k, v, out, lse, dout, dq, dk, dv, shape, mask, starts)
MONOMORPH_LATER_WITH_IDS(reference_attention, starts, q,
                         (View q, View k, View v, View out, View lse, AttentionShape shape, AttentionMask mask,
                          DropoutKey key, Starts starts = nullptr),
                         q, k, v, out, lse, shape, mask, key, starts)
MONOMORPH_LATER_WITH_IDS(reference_attention_backward, starts, q,
                         (View q, View k, View v, View out, View lse, View dout, View dq, View dk, View dv,
                          AttentionShape shape, AttentionMask mask, DropoutKey key, Starts starts = nullptr),
                         q, k, v, out, lse, dout, dq, dk, dv, shape, mask, key, starts)
inline void write_to_pages(Queue, View x, View cache, const PagedTokens& tokens) {
  Recorder::the().add([=, kept = KeptTokens(tokens)] { cpu::write_to_pages(cpu::Queue{}, x, cache, kept.tokens()); });
}
inline void paged_attention(Queue, View q, View k, View v, View out, AttentionShape shape, AttentionMask mask,
                            const PagedTokens& tokens) {
  Recorder::the().add(
      [=, kept = KeptTokens(tokens)] { cpu::paged_attention(cpu::Queue{}, q, k, v, out, shape, mask, kept.tokens()); });
}
MONOMORPH_LATER(dropout, (View x, View y, DropoutKey key), x, y, key)
MONOMORPH_LATER(dropout_add, (View x, View residual, View y, DropoutKey key), x, residual, y, key)
MONOMORPH_LATER(copy, (View from, View to), from, to)
MONOMORPH_LATER(zero, (View x), x)
MONOMORPH_LATER(fill, (View x, double value), x, value)
MONOMORPH_LATER(fill_normal, (View x, const random::Stream& stream, std::uint64_t first, double std, double cutoff), x,
                stream, first, std, cutoff)
MONOMORPH_LATER(fill_uniform, (View x, const random::Stream& stream, std::uint64_t first, double half_width), x, stream,
                first, half_width)
MONOMORPH_LATER(add, (View x, View y), x, y)
MONOMORPH_LATER(scale, (View x, double a, View y), x, a, y)
MONOMORPH_LATER(soft_cap, (View x, double cap, View y), x, cap, y)
MONOMORPH_LATER(soft_cap_backward, (View y, View dy, double cap, View dx), y, dy, cap, dx)
inline void embedding(Queue, Starts ids, View table, View positions, std::int64_t tokens, std::int64_t first, View x,
                      Starts starts = nullptr, double scale = 1) {
  Recorder::the().add([=, ids = Ids(ids, x.shape.rows), starts = Ids(starts, x.shape.rows)] {
    cpu::embedding(cpu::Queue{}, ids, table, positions, tokens, first, x, starts, scale);
  });
}
MONOMORPH_LATER_WITH_IDS(embedding_backward, ids, dx,
                         (Starts ids, View dx, View dtable, bool accumulate, double scale = 1), ids, dx, dtable,
                         accumulate, scale)
MONOMORPH_LATER_WITH_IDS(position_embedding_backward, starts, dx,
                         (View dx, std::int64_t tokens, View dpositions, bool accumulate, Starts starts = nullptr), dx,
                         tokens, dpositions, accumulate, starts)
MONOMORPH_LATER(linear, (View x, View w, View bias, View y), x, w, bias, y)
MONOMORPH_LATER(linear_add, (View x, View w, View bias, View residual, View y), x, w, bias, residual, y)
MONOMORPH_LATER(linear_backward_input, (View dy, View w, View dx, bool accumulate = false), dy, w, dx, accumulate)
MONOMORPH_LATER(linear_backward_weight, (View dy, View x, View dw, View dbias, bool accumulate), dy, x, dw, dbias,
                accumulate)
MONOMORPH_LATER(layer_norm, (View x, View weight, View bias, double epsilon, View y, View mean, View rstd), x, weight,
                bias, epsilon, y, mean, rstd)
MONOMORPH_LATER(rms_norm,
                (View x, View weight, View bias, double epsilon, View y, View rstd,
                 double weight_offset = no_weight_offset),
                x, weight, bias, epsilon, y, rstd, weight_offset)
MONOMORPH_LATER(layer_norm_recompute, (View x, View weight, View bias, View mean, View rstd, View y), x, weight, bias,
                mean, rstd, y)
MONOMORPH_LATER(rms_norm_recompute,
                (View x, View weight, View bias, View rstd, View y, double weight_offset = no_weight_offset), x, weight,
                bias, rstd, y, weight_offset)
MONOMORPH_LATER(layer_norm_backward,
                (View dy, View x, View weight, View mean, View rstd, View dx, bool add, View dweight, View dbias,
                 bool accumulate),
                dy, x, weight, mean, rstd, dx, add, dweight, dbias, accumulate)
MONOMORPH_LATER(rms_norm_backward,
                (View dy, View x, View weight, View rstd, View dx, bool add, View dweight, View dbias, bool accumulate,
                 double weight_offset = no_weight_offset),
                dy, x, weight, rstd, dx, add, dweight, dbias, accumulate, weight_offset)
MONOMORPH_LATER(rotary_table, (RotarySpec rotary, View cos, View sin), rotary, cos, sin)
MONOMORPH_LATER_WITH_IDS(rotary, starts, x,
                         (View x, View cos, View sin, std::int64_t tokens, std::int64_t first, bool inverse,
                          Starts starts = nullptr),
                         x, cos, sin, tokens, first, inverse, starts)
inline void pairwise_sum(Queue, std::span<const View> parts, View sum, bool accumulate) {
  Recorder::the().add([terms = std::vector<View>(parts.begin(), parts.end()), sum, accumulate] {
    cpu::pairwise_sum(cpu::Queue{}, terms, sum, accumulate);
  });
}
MONOMORPH_LATER(adamw, (ElementUpdate run, AdamWCoefficients coefficients, UpdateTerms terms), run, coefficients, terms)
MONOMORPH_LATER(sgd, (ElementUpdate run, SgdCoefficients coefficients, UpdateTerms terms), run, coefficients, terms)
MONOMORPH_LATER(lion, (ElementUpdate run, LionCoefficients coefficients, UpdateTerms terms), run, coefficients, terms)
MONOMORPH_LATER(momentum_mean, (ElementUpdate run, MomentumCoefficients coefficients, UpdateTerms terms), run,
                coefficients, terms)
MONOMORPH_LATER(step_along, (ElementUpdate run, DirectionCoefficients coefficients, UpdateTerms terms), run,
                coefficients, terms)
MONOMORPH_LATER(move_average, (ElementUpdate run, AverageCoefficients coefficients, UpdateTerms terms), run,
                coefficients, terms)
MONOMORPH_LATER(orthogonalize, (View matrix, View workspace, double squared_scale, std::int64_t iterations), matrix,
                workspace, squared_scale, iterations)
MONOMORPH_LATER(dequantize_nf4, (Nf4Matrix from, View values), from, values)
inline void cross_entropy(Queue, const TokenLogits& logits, LossTerms terms = {}) {
  Recorder::the().add([kept = KeptLogits(logits), terms] { cpu::cross_entropy(cpu::Queue{}, kept.logits(), terms); });
}
inline void distillation_loss(Queue, const TaughtLogits& logits, DistillationTerms terms) {
  Recorder::the().add([=, student = KeptLogits(logits.student)] {
    cpu::distillation_loss(cpu::Queue{}, {student.logits(), logits.teacher_CV, logits.metrics_4C}, terms);
  });
}
inline void preference_loss(Queue, const SequenceBatch& batch, PreferenceTerms terms) {
  Recorder::the().add(
      [kept = KeptSequences(batch), terms] { cpu::preference_loss(cpu::Queue{}, kept.sequences(), terms); });
}
MONOMORPH_LATER(begin_step, (StepScalars * scalars, std::span<std::int64_t> counters), scalars, counters)
MONOMORPH_LATER(begin_micro_batch, (StepScalars * scalars), scalars)
MONOMORPH_LATER(end_micro_batch, (StepScalars * scalars), scalars)
MONOMORPH_LATER(keep_metrics, (StepScalars * scalars), scalars)
MONOMORPH_LATER(write_step_words, (StepScalars * scalars, StepSettings settings, StepWords to), scalars, settings, to)
MONOMORPH_LATER(read_step_words, (StepScalars * scalars, StepWords from), scalars, from)
MONOMORPH_LATER(decide_step, (StepScalars * scalars, StepSettings settings, bool has_auxiliary_loss), scalars, settings,
                has_auxiliary_loss)
MONOMORPH_LATER(add_to_norm, (View x, GradientNorm order, PartialGradientNorm* norm), x, order, norm)
MONOMORPH_LATER(choose_experts, (Routing routing, RouterScores scores, bool normalize, View bias), routing, scores,
                normalize, bias)
MONOMORPH_LATER(sort_pairs, (Routing routing, std::int64_t capacity), routing, capacity)
MONOMORPH_LATER(add_router_loss, (Routing routing, RouterScores scores, RouterLosses losses, double* sum), routing,
                scores, losses, sum)
MONOMORPH_LATER(add_loads, (Routing routing, std::int64_t* loads), routing, loads)
MONOMORPH_LATER(choose_experts_backward,
                (Routing routing, RouterScores scores, bool normalize, RouterLosses losses, const StepScalars* step),
                routing, scores, normalize, losses, step)
MONOMORPH_LATER(gather_rows, (View x, Routing routing, View rows), x, routing, rows)
MONOMORPH_LATER(combine_rows, (View rows, Routing routing, View weights, View residual, View y), rows, routing, weights,
                residual, y)
MONOMORPH_LATER(weigh_rows_backward, (View a, View d, Routing routing), a, d, routing)
MONOMORPH_LATER(expert_linear, (View x, ExpertMatrices w, View y, Routing routing), x, w, y, routing)
MONOMORPH_LATER(expert_linear_backward_input, (View dy, ExpertMatrices w, View dx, Routing routing), dy, w, dx, routing)
MONOMORPH_LATER(expert_linear_backward_weight, (View dy, View x, ExpertMatrices dw, Routing routing, bool accumulate),
                dy, x, dw, routing, accumulate)
MONOMORPH_LATER(activate_rows, (Activation activation, View h, View y, Routing routing), activation, h, y, routing)
MONOMORPH_LATER(activate_rows_backward, (Activation activation, View h, View dy, Routing routing), activation, h, dy,
                routing)
MONOMORPH_LATER(balance_biases,
                (ElementUpdate run, std::int64_t biases, const std::int64_t* loads, std::int64_t experts, double rate,
                 UpdateTerms terms),
                run, biases, loads, experts, rate, terms)
inline void require_scaled_products(Queue) {}
MONOMORPH_LATER(amax_scales, (View history, int margin, View scales), history, margin, scales)
MONOMORPH_LATER(scaled_linear, (View x, View w, View bias, View y, ScaledProduct product), x, w, bias, y, product)
MONOMORPH_LATER(scaled_linear_add, (View x, View w, View bias, View residual, View y, ScaledProduct product), x, w,
                bias, residual, y, product)
MONOMORPH_LATER(scaled_linear_backward_weight,
                (View dy, View x, View dw, View dbias, bool accumulate, ScaledProduct product), dy, x, dw, dbias,
                accumulate, product)
MONOMORPH_LATER(scaled_linear_backward_input, (View w, View dx, bool accumulate, ScaledProduct product), w, dx,
                accumulate, product)
MONOMORPH_LATER(scaled_normalize, (NormedInput norm, View x_KM, ScaledProduct product), norm, x_KM, product)
MONOMORPH_LATER(scaled_input_again, (View x_KM, ScaledProduct product), x_KM, product)
MONOMORPH_LATER(scaled_activate, (Activation activation, View h, View x_KM, ScaledProduct product), activation, h, x_KM,
                product)
MONOMORPH_LATER(scaled_activate_backward,
                (Activation activation, View h, View dy, View dh, bool for_weights, ScaledProduct product), activation,
                h, dy, dh, for_weights, product)
MONOMORPH_LATER_WITH_IDS(scaled_rotary_backward, starts, dy,
                         (View dy, std::int64_t rotated, View cos, View sin, std::int64_t tokens, Starts starts,
                          bool for_weights, ScaledProduct product),
                         dy, rotated, cos, sin, tokens, starts, for_weights, product)
MONOMORPH_LATER(record_amax,
                (ElementUpdate run, std::int64_t first, Shape history, const std::int64_t* maxima, UpdateTerms terms),
                run, first, history, maxima, terms)
MONOMORPH_LATER_WITH_IDS(pool_texts, text_of_M, x_MD,
                         (View x_MD, const std::int32_t* text_of_M, TextPooling pooling, View y_RD, View present_R1),
                         x_MD, text_of_M, pooling, y_RD, present_R1)
MONOMORPH_LATER_WITH_IDS(pool_texts_backward, text_of_M, dx_MD,
                         (View dy_RD, const std::int32_t* text_of_M, TextPooling pooling, View dx_MD), dy_RD, text_of_M,
                         pooling, dx_MD)
MONOMORPH_LATER(unit_length, (View x_RE, View y_RE), x_RE, y_RE)
MONOMORPH_LATER(unit_length_backward, (View dy_RE, View x_RE), dy_RE, x_RE)
MONOMORPH_LATER(contrastive_loss, (TextEmbeddings embeddings, ContrastiveTerms terms), embeddings, terms)
/// Arithmetic of a policy's own, which captures what it needs by value, as it runs later than it is given.
template <int n_state, class F> void each_element(Queue, ElementUpdate run, UpdateTerms terms, F f) {
  Recorder::the().add([=] { cpu::each_element<n_state>(cpu::Queue{}, run, terms, f); });
}
template <class F> void each_token(Queue, const TokenLogits& logits, F f) {
  Recorder::the().add([kept = KeptLogits(logits), f] { cpu::each_token(cpu::Queue{}, kept.logits(), f); });
}
template <class F> void each_sample(Queue, const SequenceBatch& batch, F f) {
  Recorder::the().add([kept = KeptSequences(batch), f] { cpu::each_sample(cpu::Queue{}, kept.sequences(), f); });
}
template <class F> void each_sample(Queue, TextEmbeddings embeddings, F f) {
  Recorder::the().add([=] { cpu::each_sample(cpu::Queue{}, embeddings, f); });
}
#undef MONOMORPH_LATER
#undef MONOMORPH_LATER_WITH_IDS
#undef MONOMORPH_TEST_LISTED

static_assert(Kernels<Queue> && SaysItsKernels<Device>);

}  // namespace monomorph::recorder
