// What bench/gpu counts of a step, kernel by kernel, against what the kernels read and write: they report each access.
#include "bench/gpu/kernel_costs.hpp"
#include "simulator/simulator.hpp"
#include "support/catch.hpp"

#include <monomorph/optim/muon.hpp>
#include <monomorph/runtime/cuda/device.hpp>

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace monomorph::testing {
namespace {

using bench::costs::Cost;
using simulator::Simulator;
namespace costs = bench::costs;

/// The GPU's memory of a test's operands. All elements are small numbers.
class Operands {
 public:
  Operands() : begin_(cuda::allocator({}).allocate(bytes)) {
    cuda::fill({}, View(begin_, DType::fp32, {1, bytes / size_of(DType::fp32)}), 0.125);
    synchronize(cuda::Queue{});
  }
  ~Operands() { cuda::allocator({}).release(begin_, bytes); }
  Operands(const Operands&) = delete;

  View matrix(std::int64_t rows, std::int64_t cols, DType dtype) {
    const View made(begin_ + used_, dtype, {rows, cols});
    used_ += (made.bytes() + 255) / 256 * 256;
    REQUIRE(used_ <= bytes);
    return made;
  }
  template <class T> T* holding(const T& value) {
    const std::int64_t n_words = (sizeof(T) + 7) / 8;
    const View place = matrix(1, n_words, DType::fp64);
    std::vector<double> words(static_cast<std::size_t>(n_words));
    std::memcpy(words.data(), &value, sizeof value);
    cuda::copy_from_host({}, View(reinterpret_cast<std::byte*>(words.data()), DType::fp64, place.shape), place);
    return place.as<T>();
  }
  std::int64_t place_of(const void* address) const { return static_cast<const std::byte*>(address) - begin_; }

  static constexpr std::int64_t bytes = std::int64_t{4} << 20;

 private:
  std::byte* begin_;
  std::int64_t used_ = 0;
};

/// What operations do to the operands, and how often, from here on.
class Observed {
 public:
  explicit Observed(const Operands& operands) : read_(Operands::bytes), written_(Operands::bytes) {
    Simulator::the().observe([this, &operands](const void* begin, std::size_t n, bool writes) {
      const std::int64_t first = operands.place_of(begin);
      if (first < 0 || first >= Operands::bytes) return;  // of a block, of the workspace, or a copy of ids
      (writes ? n_written_ : n_read_) += static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) (writes ? written_ : read_)[static_cast<std::size_t>(first) + i] = true;
    });
  }
  ~Observed() { Simulator::the().observe({}); }
  Observed(const Observed&) = delete;

  double read() const { return touched(read_); }
  double written() const { return touched(written_); }
  double bytes_read() const { return n_read_; }  ///< as often as they are
  double bytes_written() const { return n_written_; }

 private:
  static double touched(const std::vector<bool>& bytes) {
    return static_cast<double>(std::count(bytes.begin(), bytes.end(), true));
  }
  std::vector<bool> read_, written_;
  double n_read_ = 0, n_written_ = 0;
};

/// @param apart bytes that kernels may read beside the operands which cost them: numbers of the step
/// @param times how often an operand may be read
void check_cost(const Operands& operands, const Cost& cost, const std::function<void()>& kernel, double apart = 0,
                double times = 1) {
  synchronize(cuda::Queue{});
  const Observed observed(operands);
  kernel();
  synchronize(cuda::Queue{});
  CHECK(observed.read() >= cost.read);
  CHECK(observed.read() <= cost.read + apart);
  CHECK(observed.written() == cost.written);
  CHECK(observed.bytes_read() <= times * observed.read());
  CHECK(observed.bytes_written() <= times * observed.written());
  CHECK(Simulator::the().take_races().empty());
}

constexpr std::int64_t tokens = 24, rows = 2 * tokens, width = 256;
constexpr DType half = DType::bf16, wide = DType::fp32;
/// What all threads of a kernel share is read by many of them: it is small beside the rest.
constexpr double shared_by_many = 8;

}  // namespace

TEST_CASE("activations move what is counted") {
  Operands o;
  const View h = o.matrix(rows, width, half), y = o.matrix(rows, width, half),
             gate_up = o.matrix(rows, 2 * width, half);
  const cuda::Queue q;
  check_cost(o, costs::activation(h, y), [&] { gelu_tanh(q, h, y); });
  check_cost(o, costs::activation_backward(h, y, y), [&] { gelu_tanh_backward(q, h, y, y); });
  check_cost(o, costs::activation(gate_up, y), [&] { swiglu(q, gate_up, y); });
  check_cost(o, costs::activation_backward(gate_up, y, gate_up), [&] { swiglu_backward(q, gate_up, y, gate_up); });
  check_cost(o, costs::activation(gate_up, y), [&] { geglu_tanh(q, gate_up, y); });
  check_cost(o, costs::activation_backward(gate_up, y, gate_up), [&] { geglu_tanh_backward(q, gate_up, y, gate_up); });
  check_cost(o, costs::copy(h, y), [&] { copy(q, h, y); });
  check_cost(o, costs::zero(h), [&] { zero(q, h); });
  check_cost(o, costs::scale(h, 2, y), [&] { scale(q, h, 2, y); });
  check_cost(o, costs::soft_cap(h, 30, h), [&] { soft_cap(q, h, 30, h); });
  const View logits = o.matrix(rows, width, wide);
  check_cost(o, costs::soft_cap_backward(logits, h, 30, h), [&] { soft_cap_backward(q, logits, h, 30, h); });
}

TEST_CASE("products and sums of columns move what is counted") {
  Operands o;
  const std::int64_t out = 96;
  const View x = o.matrix(rows, width, half), w = o.matrix(out, width, half), bias = o.matrix(1, out, half),
             y = o.matrix(rows, out, half), dw = o.matrix(out, width, wide), dbias = o.matrix(1, out, wide);
  const cuda::Queue q;
  check_cost(o, costs::linear(x, w, bias, y), [&] { linear(q, x, w, bias, y); });
  check_cost(o, costs::linear_add(x, w, bias, y, y), [&] { linear_add(q, x, w, bias, y, y); });
  for (const bool accumulate : {false, true}) {
    CAPTURE(accumulate);
    check_cost(o, costs::linear_backward_input(y, w, x, accumulate),
               [&] { linear_backward_input(q, y, w, x, accumulate); });
    check_cost(o, costs::linear_backward_weight(y, x, dw, accumulate),
               [&] { linear_backward_weight(q, y, x, dw, {}, accumulate); });
    check_cost(o, costs::column_sums(y, dbias, accumulate),
               [&] { linear_backward_weight(q, y, x, {}, dbias, accumulate); });
  }
  const View h = o.matrix(rows, out, half), dh = o.matrix(rows, width, half), activated = o.matrix(rows, width, half);
  check_cost(o, costs::linear_activate(x, w, bias, h, y), [&] { linear_gelu_tanh(q, x, w, bias, h, y); });
  check_cost(o, costs::linear_backward_input_activate(y, w, activated, dh),
             [&] { linear_backward_input_gelu_tanh(q, y, w, activated, dh); });
  CHECK(costs::linear(x, w, bias, y).products == 2.0 * rows * width * out);
}

TEST_CASE("products of fp8 and the rounding before them move what is counted") {
  Operands o;
  const std::int64_t out = 96;
  const View x = o.matrix(rows, width, half), w = o.matrix(out, width, half), bias = o.matrix(1, out, half),
             y = o.matrix(rows, out, half), dx = o.matrix(rows, width, half), dw = o.matrix(out, width, wide);
  const ScaledProduct product{.scales = o.matrix(1, numbers_of_scales, wide).as<float>(),
                              .maxima = nullptr,
                              .room = o.matrix(1, ScaledProduct::elements(rows, out, width), half),
                              .M = rows,
                              .N = out,
                              .K = width};
  constexpr double scales = numbers_of_scales * sizeof(float), by_each_thread = 2;
  const auto sum_of = [](std::initializer_list<Cost> terms) {
    Cost sum;
    for (const Cost& term : terms) sum += term;
    return sum;
  };
  const cuda::Queue q;
  const Cost forward = sum_of({costs::rounding(x, 1), costs::rounding(w, 1), costs::scaled_linear(x, w, bias, y)});
  check_cost(
      o, forward, [&] { scaled_linear(q, x, w, bias, y, product); }, scales, by_each_thread);
  check_cost(
      o, sum_of({costs::rounding(x, 1), costs::rounding(w, 1), costs::scaled_linear_add(x, w, bias, y, y)}),
      [&] { scaled_linear_add(q, x, w, bias, y, y, product); }, scales, by_each_thread);
  CHECK(forward.fp8_products == 2.0 * rows * width * out);
  CHECK(forward.products == 0);
  for (const bool accumulate : {false, true}) {
    CAPTURE(accumulate);
    check_cost(
        o,
        sum_of(
            {costs::rounding(y, 2), costs::rounding(x, 1), costs::scaled_linear_backward_weight(y, x, dw, accumulate)}),
        [&] { scaled_linear_backward_weight(q, y, x, dw, {}, accumulate, product); }, scales, by_each_thread);
    check_cost(
        o, sum_of({costs::rounding(w, 1), costs::scaled_linear_backward_input(y, w, dx, accumulate)}),
        [&] { scaled_linear_backward_input(q, w, dx, accumulate, product); }, scales, by_each_thread);
  }
}

TEST_CASE("activations that are rounded to fp8 where they are made move what is counted") {
  Operands o;
  const View h = o.matrix(rows, width, half), gate_up = o.matrix(rows, 2 * width, half),
             dy = o.matrix(rows, width, half), kept = costs::in_fp8(o.matrix(width, rows, half));
  constexpr double scales = numbers_of_scales * sizeof(float), by_each_thread = 2;
  const auto product = [&](std::int64_t out, std::int64_t in) {
    return ScaledProduct{.scales = o.matrix(1, numbers_of_scales, wide).as<float>(),
                         .maxima = nullptr,
                         .room = o.matrix(1, ScaledProduct::elements(rows, out, in), half),
                         .M = rows,
                         .N = out,
                         .K = in};
  };
  const ScaledProduct behind = product(16, width), before = product(width, 16), before_gated = product(2 * width, 16);
  const cuda::Queue q;
  check_cost(
      o, costs::scaled_activate(h, kept), [&] { scaled_activate(q, Activation::gelu_tanh, h, kept, behind); }, scales,
      by_each_thread);
  check_cost(
      o, costs::scaled_activate(gate_up, kept), [&] { scaled_activate(q, Activation::swiglu, gate_up, kept, behind); },
      scales, by_each_thread);
  for (const bool for_weights : {false, true})
    for (const bool stores : {false, true}) {
      CAPTURE(for_weights, stores);
      const View dh = stores ? dy : View{}, dgate_up = stores ? gate_up : View{};
      check_cost(
          o, costs::scaled_activate_backward(h, dy, dh, for_weights),
          [&] { scaled_activate_backward(q, Activation::gelu_tanh, h, dy, dh, for_weights, before); }, scales,
          by_each_thread);
      check_cost(
          o, costs::scaled_activate_backward(gate_up, dy, dgate_up, for_weights),
          [&] { scaled_activate_backward(q, Activation::swiglu, gate_up, dy, dgate_up, for_weights, before_gated); },
          scales, by_each_thread);
    }
}

TEST_CASE("norms and rotations that are rounded to fp8, and what is kept of their products, move what is counted") {
  Operands o;
  const std::int64_t head_dim = 32, out = 96;
  const View x = o.matrix(rows, width, half), weight = o.matrix(1, width, half), mean = o.matrix(1, rows, wide),
             rstd = o.matrix(1, rows, wide), kept = costs::in_fp8(o.matrix(width, rows, half)),
             w = o.matrix(out, width, half), dy = o.matrix(rows, out, half), y = o.matrix(rows, out, half),
             dx = o.matrix(rows, width, half), dw = o.matrix(out, width, wide),
             cos = o.matrix(tokens, head_dim / 2, wide), sin = o.matrix(tokens, head_dim / 2, wide);
  const ScaledProduct product{.scales = o.matrix(1, numbers_of_scales, wide).as<float>(),
                              .maxima = nullptr,
                              .room = o.matrix(1, ScaledProduct::elements(rows, out, width), half),
                              .kept_w_KN = costs::in_fp8(o.matrix(width, out, half)),
                              .M = rows,
                              .N = out,
                              .K = width};
  constexpr double scales = numbers_of_scales * sizeof(float), by_each_thread = 2;
  const cuda::Queue q;
  for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm})
    for (const bool from_saved : {false, true}) {
      CAPTURE(static_cast<int>(kind), from_saved);
      const NormedInput norm{.kind = kind,
                             .x_MK = x,
                             .weight_K = weight,
                             .bias_K = {},
                             .epsilon = 1e-5,
                             .mean_M = kind == NormKind::layer_norm ? mean : View{},
                             .rstd_M = rstd,
                             .from_saved = from_saved};
      check_cost(
          o, costs::scaled_normalize(norm, kept), [&] { scaled_normalize(q, norm, kept, product); }, scales,
          shared_by_many);
    }
  const auto sum_of = [](std::initializer_list<Cost> terms) {
    Cost sum;
    for (const Cost& term : terms) sum += term;
    return sum;
  };
  check_cost(
      o, sum_of({costs::rounding(w, 2), costs::scaled_linear(product.x_MK(), w, {}, y)}),
      [&] { scaled_linear(q, kept, w, {}, y, product); }, scales, by_each_thread);
  check_cost(o, costs::transposed(kept), [&] { scaled_input_again(q, kept, product); });
  check_cost(
      o, costs::scaled_rotary_backward(dy, cos, sin, true),
      [&] { scaled_rotary_backward(q, dy, 2 * head_dim, cos, sin, tokens, nullptr, true, product); }, scales,
      shared_by_many);
  check_cost(
      o, costs::scaled_linear_backward_weight(product.dy_MN(), product.x_MK(), dw, false),
      [&] { scaled_linear_backward_weight(q, {}, kept, dw, {}, false, product); }, scales, by_each_thread);
  check_cost(
      o, costs::scaled_linear_backward_input(product.dy_MN(), w, dx, false),
      [&] { scaled_linear_backward_input(q, w, dx, false, product); }, scales, by_each_thread);
}

TEST_CASE("norms move what is counted") {
  Operands o;
  const View x = o.matrix(rows, width, half), y = o.matrix(rows, width, half), dx = o.matrix(rows, width, half),
             weight = o.matrix(1, width, half), bias = o.matrix(1, width, half), mean = o.matrix(1, rows, wide),
             rstd = o.matrix(1, rows, wide), dweight = o.matrix(1, width, wide), dbias = o.matrix(1, width, wide);
  const cuda::Queue q;
  check_cost(
      o, costs::layer_norm(x, weight, bias, 1e-5, y, mean, rstd),
      [&] { layer_norm(q, x, weight, bias, 1e-5, y, mean, rstd); }, 0, shared_by_many);
  check_cost(
      o, costs::rms_norm(x, weight, {}, 1e-5, y, rstd), [&] { rms_norm(q, x, weight, {}, 1e-5, y, rstd); }, 0,
      shared_by_many);
  check_cost(
      o, costs::layer_norm_recompute(x, weight, bias, mean, rstd, y),
      [&] { layer_norm_recompute(q, x, weight, bias, mean, rstd, y); }, 0, shared_by_many);
  check_cost(
      o, costs::rms_norm_recompute(x, weight, {}, rstd, y), [&] { rms_norm_recompute(q, x, weight, {}, rstd, y); }, 0,
      shared_by_many);
  for (const bool adds : {false, true}) {
    CAPTURE(adds);
    check_cost(
        o, costs::layer_norm_backward(y, x, weight, mean, rstd, dx, adds, dweight, dbias, adds),
        [&] { layer_norm_backward(q, y, x, weight, mean, rstd, dx, adds, dweight, dbias, adds); }, 0, shared_by_many);
    check_cost(
        o, costs::rms_norm_backward(y, x, weight, rstd, dx, adds, dweight, {}, adds),
        [&] { rms_norm_backward(q, y, x, weight, rstd, dx, adds, dweight, {}, adds); }, 0, shared_by_many);
  }
}

TEST_CASE("attention and positions move what is counted") {
  Operands o;
  const std::int64_t heads = 4, kv_heads = 2, head_dim = 32, Q = heads * head_dim, K = kv_heads * head_dim;
  const View qkv = o.matrix(rows, Q + 2 * K, half), dqkv = o.matrix(rows, Q + 2 * K, half),
             out = o.matrix(rows, Q, half), dout = o.matrix(rows, Q, half), lse = o.matrix(2 * heads, tokens, wide),
             cos = o.matrix(tokens, head_dim / 2, wide), sin = o.matrix(tokens, head_dim / 2, wide);
  const auto part = [&](const View& of, int i) { return i == 0 ? of.columns(0, Q) : of.columns(Q + (i - 1) * K, K); };
  const AttentionShape shape{2, tokens, heads, kv_heads, head_dim, 0.2};
  const AttentionMask causal;
  const cuda::Queue q;
  constexpr double by_many_tiles = 1e9;  // how often is for the tiles to say, which cuDNN has of its own
  check_cost(
      o, costs::attention(part(qkv, 0), part(qkv, 1), part(qkv, 2), out, lse, shape, causal),
      [&] { tiled_attention(q, part(qkv, 0), part(qkv, 1), part(qkv, 2), out, lse, shape, causal); }, 0, by_many_tiles);
  check_cost(
      o,
      costs::attention_backward(part(qkv, 0), part(qkv, 1), part(qkv, 2), out, lse, dout, part(dqkv, 0), part(dqkv, 1),
                                part(dqkv, 2), shape, causal),
      [&] {
        tiled_attention_backward(q, part(qkv, 0), part(qkv, 1), part(qkv, 2), out, lse, dout, part(dqkv, 0),
                                 part(dqkv, 1), part(dqkv, 2), shape, causal);
      },
      0, by_many_tiles);
  CHECK(costs::attention(part(qkv, 0), part(qkv, 1), part(qkv, 2), out, lse, shape, causal).attention ==
        4.0 * 2 * heads * head_dim * tokens * (tokens + 1) / 2);
  const View qk = qkv.columns(0, Q + K);
  check_cost(
      o, costs::rotary(qk, cos, sin), [&] { rotary(q, qk, cos, sin, tokens, 0, false); }, 0, shared_by_many);
}

TEST_CASE("norms of heads and their rotation in one kernel move what is counted") {
  Operands o;
  const std::int64_t heads = 4, kv_heads = 2, head_dim = 32, Q = heads * head_dim, K = kv_heads * head_dim;
  const View qkv = o.matrix(rows, Q + 2 * K, half), weight = o.matrix(1, head_dim, half),
             k_weight = o.matrix(1, head_dim, half), q_rstd = o.matrix(heads, rows, wide),
             k_rstd = o.matrix(kv_heads, rows, wide), table = o.matrix(tokens, head_dim / 2, wide),
             sines = o.matrix(tokens, head_dim / 2, wide);
  const QkNormRotary of{
      .q = {.x_MN = qkv.columns(0, Q), .weight_H = weight, .bias_H = {}, .mean_MN = {}, .rstd_MN = q_rstd},
      .k = {.x_MN = qkv.columns(Q, K), .weight_H = k_weight, .bias_H = {}, .mean_MN = {}, .rstd_MN = k_rstd},
      .epsilon = 1e-5,
      .qk_M = o.matrix(rows, Q + K, half),
      .cos_TH = table,
      .sin_TH = sines,
      .tokens = tokens};
  const cuda::Queue q;
  check_cost(
      o, costs::qk_norm_rotary(of), [&] { qk_norm_rotary(q, NormKind::rms_norm, of); }, 0, shared_by_many);
}

TEST_CASE("the ends of a decoder move what is counted") {
  Operands o;
  const std::int64_t vocabulary = 100, padded = 128;
  const View table = o.matrix(padded, width, half), positions = o.matrix(tokens, width, half),
             x = o.matrix(rows, width, half), dtable = o.matrix(padded, width, wide),
             dpositions = o.matrix(tokens, width, wide), logits = o.matrix(rows, padded, wide),
             dlogits = o.matrix(rows, padded, half), loss = o.matrix(1, rows, wide);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(rows));
  std::iota(ids.begin(), ids.end(), 3);
  const cuda::Queue q;
  constexpr double by_each_row = 2;
  check_cost(
      o, costs::embedding(table, positions, x), [&] { embedding(q, ids.data(), table, positions, tokens, 0, x); }, 0,
      by_each_row);
  for (const bool accumulate : {false, true}) {
    CAPTURE(accumulate);
    check_cost(
        o, costs::embedding_backward(x, dtable, accumulate),
        [&] { embedding_backward(q, ids.data(), x, dtable, accumulate); }, 0, by_each_row);
    check_cost(o, costs::position_embedding_backward(x, dpositions, accumulate),
               [&] { position_embedding_backward(q, x, tokens, dpositions, accumulate); });
  }
  const TokenLogits of{
      .logits_CV = logits, .targets_C = ids.data(), .vocab_size = vocabulary, .loss_C = loss, .dlogits_CV = dlogits};
  constexpr double twice = 3;  // and the target's logit by all threads
  check_cost(
      o, costs::cross_entropy(of), [&] { cross_entropy(q, of); }, 0, twice);
  TokenLogits in_place = of;  // of 16 bits
  in_place.logits_CV = in_place.dlogits_CV;
  check_cost(
      o, costs::cross_entropy(in_place), [&] { cross_entropy(q, in_place); }, 0, twice);
}

TEST_CASE("updates move what is counted") {
  Operands o;
  const std::int64_t n = 64 * 64;
  ElementUpdate run{.gradient = o.matrix(1, n, wide), .master = o.matrix(1, n, wide)};
  run.state[0] = o.matrix(1, n, wide), run.state[1] = o.matrix(1, n, wide), run.rounded = o.matrix(1, n, half);
  const UpdateTerms terms{.decision = o.holding(UpdateDecision{})};
  auto* const norm = o.holding(PartialGradientNorm{});
  const cuda::Queue q;
  constexpr double by_each_block = 2;
  check_cost(
      o, costs::update(run),
      [&] {
        adamw(q, run, {1e-3, 0.9, 0.95, 1e-8, 0.1}, terms);
      },
      sizeof(UpdateDecision), by_each_block);
  const ElementUpdate of_matrix{.gradient = run.gradient,
                                .master = run.master,
                                .state = {run.state[0]},
                                .rounded = run.rounded};
  check_cost(
      o, costs::momentum_mean(of_matrix),
      [&] { momentum_mean(q, of_matrix, {.momentum = 0.9, .nesterov = true}, terms); }, sizeof(UpdateDecision),
      by_each_block);
  check_cost(
      o, costs::step_along(of_matrix),
      [&] { step_along(q, of_matrix, {.learning_rate = 0.1, .weight_decay = 0.1}, terms); }, sizeof(UpdateDecision),
      by_each_block);
  synchronize(q);
  const Observed observed(o);
  add_to_norm(q, run.gradient, GradientNorm::two, norm);
  synchronize(q);
  CHECK(observed.read() >= costs::add_to_norm(run.gradient).read);
  CHECK(observed.read() <= costs::add_to_norm(run.gradient).read + sizeof(PartialGradientNorm));
  CHECK(observed.written() <= sizeof(PartialGradientNorm));
}

TEST_CASE("matrices that are made orthogonal move what is counted") {
  for (const DType of_workspace : {wide, half})
    // Of whole blocks of the norm: what has no elements there reads others again.
    for (const Shape shape : {Shape{32, 128}, {128, 32}, {64, 64}}) {
      CAPTURE(name_of(of_workspace), shape.rows, shape.cols);
      Operands o;
      const View matrix = o.matrix(shape.rows, shape.cols, wide),
                 workspace = o.matrix(1, optim::Muon::workspace_elements(shape), of_workspace);
      const Cost cost = costs::orthogonalize(matrix, workspace, 2);
      CHECK(5 * (cost.products + cost.fp32_products) == 2 * optim::Muon::transform_work(shape).flops);
      CHECK((cost.fp32_products > 0) == (of_workspace == wide));
      const Observed observed(o);
      orthogonalize(cuda::Queue{}, matrix, workspace, 1, 2);
      synchronize(cuda::Queue{});
      CHECK(observed.bytes_read() == cost.read);
      CHECK(observed.bytes_written() == cost.written);
    }
}

}  // namespace monomorph::testing
