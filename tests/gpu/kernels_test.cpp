#include "matrices_together.hpp"
#include "support/scattered_pages.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/optim/muon.hpp>

#include <array>
#include <numeric>
#include <vector>

namespace monomorph::testing {
namespace {

constexpr DType dtypes[] = {DType::fp32, DType::bf16, DType::fp64, DType::fp16};
/// Of sums, which a GPU adds up in another order, and of what is rounded behind them.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 1e-13;
    case DType::fp32:
      return 1e-5;
    case DType::bf16:
      return 1e-2;
    case DType::fp16:
      return 2e-3;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      break;  // no sums are rounded to them
  }
  return 0;
}

/// Of single elements that take a function of the machine's own, as exponentials and powers do. What takes products,
/// sums and roots alone has the CPU's bits, as on the emulator.
double approximated(DType dtype) { return dtype == DType::fp64 ? 1e-14 : size_of(dtype) == 2 ? 1e-3 : 1e-6; }

struct Size {
  std::int64_t rows, cols;
};
constexpr Size sizes[] = {{1, 1}, {3, 61}, {64, 768}, {33, 4099}, {1000, 64}};

template <class F> void for_each_layout(F f) {
  for (const DType dtype : dtypes)
    for (const Size size : sizes)
      for (const std::int64_t gap : {0, 16, 5}) {
        CAPTURE(name_of(dtype), size.rows, size.cols, gap);
        f(dtype, size, gap);
      }
}

Mirror random_mirror(Size size, DType dtype, unsigned seed, std::int64_t gap = 0) {
  return {random_matrix(size.rows, size.cols, seed), dtype, gap};
}
std::vector<std::int32_t> random_ids(std::int64_t n, std::int32_t below, unsigned seed) {
  std::vector<std::int32_t> ids;
  std::uint32_t state = seed;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    ids.push_back(static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(below)));
  }
  return ids;
}

}  // namespace

TEST_CASE("a GPU copies, clears and adds with the bits of a CPU", "[elementwise]") {
  MONOMORPH_NEEDS_GPU;
  for_each_layout([](DType dtype, Size size, std::int64_t gap) {
    for (const DType to : dtypes) {
      const Mirror x = random_mirror(size, dtype, 1, gap), y = random_mirror(size, to, 2, gap);
      on_both([&](auto queue) { copy(queue, x.on(queue), y.on(queue)); });
      y.check_equal();
      on_both([&](auto queue) { add(queue, x.on(queue), y.on(queue)); });
      y.check_equal();
      on_both([&](auto queue) { scale_and_add(queue, x.on(queue), 0.3, y.on(queue), -1.25); });
      y.check_equal();
    }
    const Mirror x = random_mirror(size, dtype, 1, gap);
    on_both([&](auto queue) { zero(queue, x.on(queue)); });
    x.check_equal();
  });
}

TEST_CASE("first values have the bits of a CPU", "[random]") {
  MONOMORPH_NEEDS_GPU;
  constexpr random::Stream stream{7, random::Purpose::initialization, 1, 2};
  for (const DType dtype : dtypes) {
    CAPTURE(name_of(dtype));
    const Mirror x = random_mirror({1, dtype == DType::fp64 ? 100'001 : 4'000'003}, dtype, 1);
    for (const double cutoff : {0.0, 0.5, 2.0, 3.0}) {
      CAPTURE(cutoff);
      on_both([&](auto queue) { fill_normal(queue, x.on(queue), stream, 13, 0.02, cutoff); });
      x.check_equal();
    }
    on_both([&](auto queue) { fill_uniform(queue, x.on(queue), stream, 13, 0.125); });
    x.check_equal();
    on_both([&](auto queue) { fill(queue, x.on(queue), 1.5); });
    x.check_equal();
  }
}

TEST_CASE("first values of more elements than are drawn at once have the bits of a CPU", "[random]") {
  MONOMORPH_NEEDS_GPU;
  const Mirror x(filled(1, (std::int64_t{1} << 24) + 5, 1), DType::fp32);
  on_both([&](auto queue) { fill_normal(queue, x.on(queue), {1, random::Purpose::initialization, 0, 0}, 2, 1, 0); });
  x.check_equal();
}

TEST_CASE("a GPU makes numbers of NF4 with the bits of a CPU", "[nf4]") {
  MONOMORPH_NEEDS_GPU;
  for (const Size size : {Size{1, 64}, {130, 256}, {4'096, 4'096}}) {
    Layout layout;
    const Nf4Places places(layout, size.rows * size.cols);
    const Mirror bytes(filled(1, layout.elements, 0), DType::u8), numbers = random_mirror(size, DType::fp32, 1);
    cpu::quantize_nf4({}, numbers.on(cpu::Queue{}), {bytes.on(cpu::Queue{}), places});
    cuda::copy_from_host({}, bytes.on(cpu::Queue{}), bytes.on(cuda::Queue{}));
    for (const DType dtype : dtypes) {
      CAPTURE(name_of(dtype), size.rows, size.cols);
      const Mirror made = random_mirror(size, dtype, 2);
      on_both([&](auto queue) { dequantize_nf4(queue, {bytes.on(queue), places}, made.on(queue)); });
      made.check_equal();
    }
  }
}

TEST_CASE("activations on a GPU", "[activation]") {
  MONOMORPH_NEEDS_GPU;
  for_each_layout([](DType dtype, Size size, std::int64_t gap) {
    const Mirror h = random_mirror(size, dtype, 1, gap), dy = random_mirror(size, dtype, 2, gap),
                 y = random_mirror(size, dtype, 3, gap);
    const double approximate = approximated(dtype);
    const auto check = [&](double bound, auto f, auto backward) {
      on_both([&](auto queue) { f(queue, h.on(queue), y.on(queue)); });
      y.check_equal(bound);
      on_both([&](auto queue) { backward(queue, h.on(queue), dy.on(queue), y.on(queue)); });
      y.check_equal(bound);
    };
    check(
        approximate, [](auto... a) { gelu_tanh(a...); }, [](auto... a) { gelu_tanh_backward(a...); });
    check(
        approximate, [](auto... a) { gelu_exact(a...); }, [](auto... a) { gelu_exact_backward(a...); });
    check(
        0, [](auto... a) { relu_squared(a...); }, [](auto... a) { relu_squared_backward(a...); });
    check(
        approximate, [](auto q, View x, View capped) { soft_cap(q, x, 3, capped); },
        [](auto q, View capped, View dcapped, View dx) { soft_cap_backward(q, capped, dcapped, 3, dx); });
    const Mirror gate_up = random_mirror({size.rows, 2 * size.cols}, dtype, 4, gap);
    const auto check_gated = [&](auto f, auto backward) {
      on_both([&](auto queue) { f(queue, gate_up.on(queue), y.on(queue)); });
      y.check_equal(approximate);
      const Mirror gradient = random_mirror({size.rows, 2 * size.cols}, dtype, 4, gap);
      on_both([&](auto queue) { backward(queue, gradient.on(queue), dy.on(queue), gradient.on(queue)); });
      gradient.check_equal(approximate);
    };
    check_gated([](auto... a) { swiglu(a...); }, [](auto... a) { swiglu_backward(a...); });
    check_gated([](auto... a) { geglu_exact(a...); }, [](auto... a) { geglu_exact_backward(a...); });
    check_gated([](auto... a) { geglu_tanh(a...); }, [](auto... a) { geglu_tanh_backward(a...); });
  });
}

TEST_CASE("norms on a GPU", "[norm]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : dtypes)
    for (const Size size : {Size{3, 64}, Size{500, 768}, Size{37, 4096}, Size{5, 1000}, Size{70, 8192}}) {
      CAPTURE(name_of(dtype), size.rows, size.cols);
      const DType statistic = statistics_dtype(dtype);
      const Mirror x = random_mirror(size, dtype, 1, 16), dy = random_mirror(size, dtype, 2),
                   y = random_mirror(size, dtype, 3), dx = random_mirror(size, dtype, 4);
      const Mirror weight = random_mirror({1, size.cols}, dtype, 5), bias = random_mirror({1, size.cols}, dtype, 6);
      const Mirror mean = random_mirror({1, size.rows}, statistic, 7),
                   rstd = random_mirror({1, size.rows}, statistic, 8),
                   dweight = random_mirror({1, size.cols}, statistic, 9),
                   dbias = random_mirror({1, size.cols}, statistic, 10);
      on_both([&](auto q) {
        layer_norm(q, x.on(q), weight.on(q), bias.on(q), 1e-5, y.on(q), mean.on(q), rstd.on(q));
        layer_norm_backward(q, dy.on(q), x.on(q), weight.on(q), mean.on(q), rstd.on(q), dx.on(q), true, dweight.on(q),
                            dbias.on(q), true);
      });
      for (const Mirror* result : {&y, &dx}) result->check_equal(tolerance(dtype));
      for (const Mirror* result : {&mean, &rstd}) result->check_equal(tolerance(statistic));
      for (const Mirror* result : {&dweight, &dbias}) result->check_equal(tolerance(statistic));
      on_both([&](auto q) {
        rms_norm(q, x.on(q), weight.on(q), View{}, 1e-5, y.on(q), rstd.on(q));
        rms_norm_backward(q, dy.on(q), x.on(q), weight.on(q), rstd.on(q), dy.on(q), false, dweight.on(q), View{},
                          false);
      });
      for (const Mirror* result : {&y, &dy}) result->check_equal(tolerance(dtype));
      for (const Mirror* result : {&rstd, &dweight}) result->check_equal(tolerance(statistic));
      on_both([&](auto q) {
        rms_norm(q, x.on(q), weight.on(q), View{}, 1e-5, y.on(q), rstd.on(q), 1);
        rms_norm_backward(q, dy.on(q), x.on(q), weight.on(q), rstd.on(q), dy.on(q), false, dweight.on(q), View{}, false,
                          1);
      });
      for (const Mirror* result : {&y, &dy}) result->check_equal(tolerance(dtype));
      for (const Mirror* result : {&rstd, &dweight}) result->check_equal(tolerance(statistic));
    }
}

TEST_CASE("norms and rotations of heads in one kernel on a GPU", "[norm][rotary]") {
  MONOMORPH_NEEDS_GPU;
  constexpr NormKind rms = NormKind::rms_norm;
  for (const DType dtype : dtypes)
    for (const std::int64_t features : {64, 96, 128}) {
      CAPTURE(name_of(dtype), features);
      constexpr std::int64_t tokens = 40, queries = 6, keys = 2, rows = 2 * tokens;
      const DType statistic = statistics_dtype(dtype);
      const Mirror qkv = random_mirror({rows, (queries + 2 * keys) * features}, dtype, 1),
                   weight = random_mirror({1, features}, dtype, 2),
                   cos = random_mirror({tokens, features / 2}, statistic, 3),
                   sin = random_mirror({tokens, features / 2}, statistic, 4),
                   q_rstd = random_mirror({1, queries * rows}, statistic, 5),
                   k_rstd = random_mirror({1, keys * rows}, statistic, 6);
      const auto starts = growing_documents(rows, tokens);
      const auto call = [&](auto q, const Mirror& to) {
        const auto norm = [&](std::int64_t first, std::int64_t heads, const Mirror& rstd) {
          return HeadNorm{qkv.on(q).columns(first * features, heads * features), weight.on(q), {}, {}, rstd.on(q)};
        };
        return QkNormRotary{norm(0, queries, q_rstd),
                            norm(queries, keys, k_rstd),
                            1e-5,
                            to.on(q),
                            cos.on(q),
                            sin.on(q),
                            tokens,
                            starts.data()};
      };
      const Mirror together = random_mirror({rows, (queries + keys) * features}, dtype, 7);
      on_both([&](auto q) { normalize_and_rotate<rms>(q, call(q, together)); });
      for (const Mirror* result : {&q_rstd, &k_rstd}) result->check_equal(tolerance(statistic));
      together.check_equal(tolerance(dtype));
      const Mirror one_by_one = random_mirror({rows, (queries + keys) * features}, dtype, 7);
      normalize_then_rotate<rms>(cuda::Queue{}, call(cuda::Queue{}, one_by_one));
      CHECK(one_by_one.same_on_gpu(together));
    }
}

TEST_CASE("rotary embeddings and dropout on a GPU", "[rotary][dropout]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : dtypes) {
    CAPTURE(name_of(dtype));
    constexpr std::int64_t tokens = 40, width = 64;
    const DType statistic = statistics_dtype(dtype);
    const Mirror x = random_mirror({2 * tokens, 3 * width}, dtype, 1, 16),
                 y = random_mirror({2 * tokens, 3 * width}, dtype, 2);
    const Mirror cos = random_mirror({tokens, width / 2}, statistic, 3),
                 sin = random_mirror({tokens, width / 2}, statistic, 4);
    const auto starts = growing_documents(2 * tokens, tokens);
    const DropoutKey key{
        .seed = 3, .step = 5, .first_sample = 7, .layer = 1, .site = 2, .tokens_per_sample = tokens, .rate = 0.3};
    on_both([&](auto q) {
      rotary_table(q, RotarySpec{}, cos.on(q), sin.on(q));
      rotary(q, x.on(q), cos.on(q), sin.on(q), tokens, 0, false, starts.data());
      rotary(q, x.on(q), cos.on(q), sin.on(q), tokens, 0, true);
    });
    cos.check_equal();
    sin.check_equal();
    x.check_equal();
    on_both([&](auto q) { dropout_add(q, x.on(q), y.on(q), y.on(q), key); });
    y.check_equal();
    on_both([&](auto q) { dropout(q, y.on(q), x.on(q), key); });
    x.check_equal();
  }
}

TEST_CASE("products on a GPU", "[linear]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : dtypes)
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{64, 128, 96}, {200, 2304, 768}, {8, 64, 256}}) {
      CAPTURE(name_of(dtype), m, n, k);
      const DType gradient = statistics_dtype(dtype);
      const Mirror x = random_mirror({m, k}, dtype, 1, 16), w = random_mirror({n, k}, dtype, 2),
                   bias = random_mirror({1, n}, dtype, 3), y = random_mirror({m, n}, dtype, 4, 16),
                   wide = random_mirror({m, n}, gradient, 5), dx = random_mirror({m, k}, dtype, 6),
                   dw = random_mirror({n, k}, gradient, 7), dbias = random_mirror({1, n}, gradient, 8);
      on_both([&](auto q) {
        linear(q, x.on(q), w.on(q), bias.on(q), y.on(q));
        linear(q, x.on(q), w.on(q), View{}, wide.on(q));
      });
      y.check_equal(tolerance(dtype));
      wide.check_equal(tolerance(gradient));
      on_both([&](auto q) { linear_add(q, x.on(q), w.on(q), bias.on(q), y.on(q), y.on(q)); });
      y.check_equal(tolerance(dtype));
      for (const bool accumulate : {false, true}) {
        CAPTURE(accumulate);
        const Mirror dy = random_mirror({m, n}, dtype, 9, 16);
        on_both([&](auto q) {
          linear_backward_input(q, dy.on(q), w.on(q), dx.on(q), accumulate);
          linear_backward_weight(q, dy.on(q), x.on(q), dw.on(q), dbias.on(q), accumulate);
        });
        dx.check_equal(tolerance(dtype));
        dw.check_equal(tolerance(gradient));
        dbias.check_equal(tolerance(gradient));
      }
    }
}

TEST_CASE("attention on a GPU", "[attention]") {
  MONOMORPH_NEEDS_GPU;
  struct Heads {
    std::int64_t heads, kv_heads, width, tokens;
  };
  constexpr std::int64_t batch = 2;
  for (const DType dtype : dtypes)
    for (const Heads& h : {Heads{4, 4, 64, 128}, Heads{6, 2, 128, 200}, Heads{2, 1, 32, 75}})
      for (const AttentionMask mask : {AttentionMask{}, AttentionMask{.before = 50},
                                       AttentionMask{.after = AttentionMask::unlimited}, AttentionMask{.prefix = 33}})
        for (int i = 0; i < 4; ++i) {
          const bool documents = i % 2 == 1;
          const double cap = i < 2 ? 0 : 0.7;
          CAPTURE(name_of(dtype), h.heads, h.kv_heads, h.width, h.tokens, mask.before, mask.after, mask.prefix,
                  documents, cap);
          const AttentionShape shape{batch, h.tokens, h.heads, h.kv_heads, h.width, 0.125, cap};
          const std::int64_t Q = h.heads * h.width, K = h.kv_heads * h.width, rows = batch * h.tokens;
          const Mirror qkv = random_mirror({rows, Q + 2 * K}, dtype, 1),
                       dqkv = random_mirror({rows, Q + 2 * K}, dtype, 2);
          const Mirror out = random_mirror({rows, Q}, dtype, 3), dout = random_mirror({rows, Q}, dtype, 4);
          const Mirror lse = random_mirror({batch * h.heads, h.tokens}, statistics_dtype(dtype), 5);
          const auto starts = growing_documents(rows, h.tokens);
          const std::int32_t* const given = documents ? starts.data() : nullptr;
          const auto part = [&](const Mirror& of, auto q, int which) {
            return which == 0 ? of.on(q).columns(0, Q) : of.on(q).columns(Q + (which - 1) * K, K);
          };
          on_both([&](auto q) {
            tiled_attention(q, part(qkv, q, 0), part(qkv, q, 1), part(qkv, q, 2), out.on(q), lse.on(q), shape, mask,
                            given);
          });
          out.check_equal(tolerance(dtype));
          lse.check_equal(dtype == DType::fp64 ? 1e-13 : 1e-5);
          on_both([&](auto q) {
            tiled_attention_backward(q, part(qkv, q, 0), part(qkv, q, 1), part(qkv, q, 2), out.on(q), lse.on(q),
                                     dout.on(q), part(dqkv, q, 0), part(dqkv, q, 1), part(dqkv, q, 2), shape, mask,
                                     given);
          });
          dqkv.check_equal(2 * tolerance(dtype));
          const DropoutKey key{.seed = 3,
                               .step = 5,
                               .first_sample = 7,
                               .layer = 1,
                               .site = 2,
                               .tokens_per_sample = h.tokens,
                               .rate = 0.2};
          on_both([&](auto q) {
            reference_attention(q, part(qkv, q, 0), part(qkv, q, 1), part(qkv, q, 2), out.on(q), lse.on(q), shape, mask,
                                key, given);
            reference_attention_backward(q, part(qkv, q, 0), part(qkv, q, 1), part(qkv, q, 2), out.on(q), lse.on(q),
                                         dout.on(q), part(dqkv, q, 0), part(dqkv, q, 1), part(dqkv, q, 2), shape, mask,
                                         key, given);
          });
          out.check_equal(tolerance(dtype));
          dqkv.check_equal(2 * tolerance(dtype));
        }
}

TEST_CASE("attention to pages of a cache on a GPU", "[attention]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64})
    for (const std::int64_t length : {1, 40, 64}) {
      constexpr std::int64_t heads = 6, kv_heads = 2, width = 64;
      const ScatteredPages scattered(3, length);
      const PagedTokens tokens = scattered.tokens();
      const Mirror q_ = random_mirror({tokens.tokens, heads * width}, dtype, 1),
                   out = random_mirror({tokens.tokens, heads * width}, dtype, 2),
                   new_k = random_mirror({tokens.tokens, kv_heads * width}, dtype, 5);
      const Mirror k = random_mirror({scattered.cache_rows(), kv_heads * width}, dtype, 3),
                   v = random_mirror({scattered.cache_rows(), kv_heads * width}, dtype, 4);
      on_both([&](auto q) {
        write_to_pages(q, new_k.on(q), k.on(q), tokens);
        paged_attention(q, q_.on(q), k.on(q), v.on(q), out.on(q), {1, tokens.tokens, heads, kv_heads, width, 0.125},
                        AttentionMask{.before = 50}, tokens);
      });
      k.check_equal();
      out.check_equal(tolerance(dtype));
    }
}

TEST_CASE("embeddings on a GPU have the bits of a CPU", "[embedding]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : dtypes)
    for (const std::int64_t width : {768, 61}) {
      CAPTURE(name_of(dtype), width);
      constexpr std::int64_t vocab = 300, tokens = 50, rows = 40 * tokens;
      const DType gradient = statistics_dtype(dtype);
      const Mirror table = random_mirror({vocab, width}, dtype, 1),
                   positions = random_mirror({tokens, width}, dtype, 2), x = random_mirror({rows, width}, dtype, 3),
                   dtable = random_mirror({vocab, width}, gradient, 4),
                   dpositions = random_mirror({tokens, width}, gradient, 5);
      auto ids = random_ids(rows, vocab, 7);
      for (std::size_t i = 0; i < ids.size(); i += 3) ids[i] = 5;  // a frequent one
      const auto starts = growing_documents(rows, tokens);
      on_both(
          [&](auto q) { embedding(q, ids.data(), table.on(q), positions.on(q), tokens, 0, x.on(q), starts.data()); });
      x.check_equal();
      for (const bool accumulate : {false, true}) {
        on_both([&](auto q) {
          embedding_backward(q, ids.data(), x.on(q), dtable.on(q), accumulate);
          position_embedding_backward(q, x.on(q), tokens, dpositions.on(q), accumulate, starts.data());
        });
        dtable.check_equal();
        dpositions.check_equal();
      }
    }
}

namespace {

/// Logits of some tokens, of which one is ignored, and what a cross-entropy makes of them on both.
struct CrossEntropyCase {
  static constexpr std::int64_t rows = 40;
  std::int64_t vocab, padded;
  std::vector<std::int32_t> targets;
  Mirror logits, loss;
  MirrorOf<double> scale{8};
  MirrorOf<LossSum> sum{LossSum{.loss = 3, .tokens = 4}};

  CrossEntropyCase(std::int64_t of_vocab, DType dtype, DType loss_dtype)
      : vocab(of_vocab),
        padded((vocab + 63) / 64 * 64),
        targets(random_ids(rows, static_cast<std::int32_t>(vocab), 3)),
        logits(random_mirror({rows, padded}, dtype, 1)),
        loss(random_mirror({1, rows}, loss_dtype, 2)) {
    targets[7] = ignored_target;
  }
  /// @param tolerance of losses, and of their sum
  void check(const Mirror& dlogits, const LossTerms& terms, double tolerance, double sum_tolerance) {
    on_both([&](auto q) {
      cross_entropy(q,
                    {.logits_CV = logits.on(q),
                     .targets_C = targets.data(),
                     .vocab_size = vocab,
                     .loss_C = loss.on(q),
                     .dlogits_CV = dlogits.on(q),
                     .scale = scale.on(q),
                     .sum = sum.on(q)},
                    terms);
    });
    loss.check_equal(tolerance);
    CHECK(sum.gpu().tokens == sum.cpu().tokens);
    CHECK(sum.gpu().loss == Approx(sum.cpu().loss).epsilon(sum_tolerance));
  }
};

}  // namespace

TEST_CASE("cross-entropy on a GPU", "[cross_entropy]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const std::int64_t vocab : {std::int64_t{50'257}, std::int64_t{100}})
      for (const LossTerms terms : {LossTerms{}, LossTerms{.label_smoothing = 0.1, .z_loss = 1e-3}}) {
        CAPTURE(name_of(dtype), vocab, terms.z_loss);
        const bool is_fp64 = dtype == DType::fp64;
        CrossEntropyCase of(vocab, dtype, dtype);
        const Mirror narrow = random_mirror({of.rows, of.padded}, is_fp64 ? dtype : DType::bf16, 3);
        of.check(narrow, terms, is_fp64 ? 1e-12 : 1e-6, 1e-6);
        narrow.check_equal(is_fp64 ? 1e-12 : 1e-2);
        of.check(of.logits, terms, is_fp64 ? 1e-12 : 1e-6, 1e-6);
        of.logits.check_equal(is_fp64 ? 1e-12 : 1e-5);
      }
}

TEST_CASE("cross-entropy of logits of 16 bits on a GPU, in their place", "[cross_entropy]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::bf16, DType::fp16})
    for (const std::int64_t vocab : {std::int64_t{50'257}, std::int64_t{100}}) {
      CAPTURE(name_of(dtype), vocab);
      CrossEntropyCase of(vocab, dtype, DType::fp32);
      constexpr double of_exponentials = 1e-5;  // which the GPU approximates
      of.check(of.logits, {.label_smoothing = 0.1, .z_loss = 1e-3}, of_exponentials, of_exponentials);
      of.logits.check_equal(tolerance(dtype));
    }
}

TEST_CASE("a student compared with its teacher on a GPU", "[distillation]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const std::int64_t vocab : {std::int64_t{50'257}, std::int64_t{100}})
      for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon})
        for (const double temperature : {2.0, 1000.0}) {
          CAPTURE(name_of(dtype), vocab, static_cast<int>(divergence), temperature);
          const std::int64_t rows = 40, padded = (vocab + 63) / 64 * 64;
          auto targets = random_ids(rows, static_cast<std::int32_t>(vocab), 3);
          targets[7] = ignored_target;
          const Mirror student = random_mirror({rows, padded}, dtype, 1),
                       teacher = random_mirror({rows, padded}, dtype, 2), loss = random_mirror({1, rows}, dtype, 3),
                       metrics = random_mirror({4, rows}, dtype, 4),
                       narrow = random_mirror({rows, padded}, dtype == DType::fp64 ? dtype : DType::bf16, 5);
          MirrorOf<double> scale(8);
          MirrorOf<LossSum> sum(LossSum{.loss = 3, .tokens = 4});
          on_both([&](auto q) {
            distillation_loss(q,
                              {{.logits_CV = student.on(q),
                                .targets_C = targets.data(),
                                .vocab_size = vocab,
                                .loss_C = loss.on(q),
                                .dlogits_CV = narrow.on(q),
                                .scale = scale.on(q),
                                .sum = sum.on(q)},
                               teacher.on(q),
                               metrics.on(q)},
                              {.divergence = divergence, .temperature = temperature});
          });
          const double tolerance = dtype == DType::fp64 ? 1e-9 : 5e-5;
          loss.check_equal(tolerance);
          metrics.check_equal(tolerance);
          narrow.check_equal(dtype == DType::fp64 ? 1e-9 : 1e-2);
          CHECK(sum.gpu().tokens == sum.cpu().tokens);
          CHECK(sum.gpu().loss == Approx(sum.cpu().loss).epsilon(tolerance));
        }
}

TEST_CASE("updates on a GPU", "[optimizer]") {
  MONOMORPH_NEEDS_GPU;
  struct Dtypes {
    DType master, state, gradient, rounded;
  };
  for (const Dtypes& d : {Dtypes{DType::fp32, DType::fp32, DType::fp32, DType::bf16},
                          Dtypes{DType::fp32, DType::bf16, DType::fp32, DType::bf16},
                          Dtypes{DType::bf16, DType::bf16, DType::bf16, DType::bf16},
                          Dtypes{DType::fp64, DType::fp64, DType::fp64, DType::fp64}}) {
    CAPTURE(name_of(d.master), name_of(d.state));
    constexpr std::int64_t n = 64 * 1001;
    const Mirror master = random_mirror({1, n}, d.master, 1), gradient = random_mirror({1, n}, d.gradient, 2),
                 m = Mirror(filled(1, n, 0), d.state), v = Mirror(filled(1, n, 0), d.state),
                 rounded = random_mirror({1, n}, d.rounded, 3);
    const bool copies = d.rounded != d.master;
    for (std::uint64_t update = 1; update <= 3; ++update) {
      MirrorOf<UpdateDecision> decision(UpdateDecision{.gradient_scale = 0.3, .update = update});
      const auto check = [&](auto f) {
        on_both([&](auto q) {
          f(q,
            ElementUpdate{.gradient = gradient.on(q),
                          .master = master.on(q),
                          .state = {m.on(q), v.on(q)},
                          .rounded = copies ? rounded.on(q) : View{},
                          .noise_key = {3, 5},
                          .first = 640},
            UpdateTerms{.decision = decision.on(q), .clip_value = 0.5});
        });
        for (const Mirror* result : {&master, &m, &v, &rounded})
          result->check_equal(approximated(result->on(cpu::Queue{}).dtype));
      };
      check([](auto q, const ElementUpdate& run, const UpdateTerms& terms) {
        adamw(q, run, {1e-2, 0.9, 0.95, 1e-8, 0.1}, terms);
      });
    }
  }
}

TEST_CASE("matrices made orthogonal on a GPU", "[optimizer]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const Shape shape : {Shape{256, 768}, {1024, 256}, {128, 128}}) {
      CAPTURE(name_of(dtype), shape.rows, shape.cols);
      const Mirror x = random_mirror({shape.rows, shape.cols}, dtype, 1);
      const Mirror workspace(filled(1, optim::Muon::workspace_elements(shape), 0), dtype);
      on_both([&](auto q) { orthogonalize(q, x.on(q), workspace.on(q), 1, 5); });
      x.check_equal(10 * tolerance(dtype));
    }
}

TEST_CASE("matrices of a batch made orthogonal on a GPU, in bf16 too", "[optimizer]") {
  MONOMORPH_NEEDS_GPU;
  constexpr DType of_matrix_and_workspace[][2] = {{DType::fp32, DType::fp32},
                                                  {DType::fp32, DType::bf16},
                                                  {DType::bf16, DType::bf16},
                                                  {DType::fp64, DType::bf16}};
  for (const auto& [dtype, of_workspace] : of_matrix_and_workspace) {
    CAPTURE(name_of(dtype), name_of(of_workspace));
    const MatricesTogether matrices({{256, 768}, {256, 768}, {256, 768}, {512, 256}, {512, 256}, {128, 128}}, dtype,
                                    of_workspace);
    matrices.orthogonalize_on_both(5);
    matrices.check_equal(of_workspace == DType::bf16 ? tolerance_of_bf16_iterations : 10 * tolerance(dtype));
  }
}

namespace {
/// A routing in the memory of both; integers lie in the places of fp32 numbers.
struct MirroredRouting {
  static constexpr std::int64_t tokens = 1000, n_experts = 8, top_k = 2, n_rows = tokens * top_k;
  Mirror scores = random_mirror({tokens, n_experts}, DType::fp32, 1), weights = zeros(n_rows), lse = zeros(tokens),
         experts = zeros(n_rows), rows = zeros(n_rows), pairs = zeros(n_rows), counts = zeros(n_experts),
         begins = zeros(n_experts + 1);

  static Mirror zeros(std::int64_t n) { return {filled(1, n, 0), DType::fp32}; }
  template <class Queue> Routing on(Queue q) const {
    const auto integers = [q](const Mirror& of) { return of.on(q).template as<std::int32_t>(); };
    return {.scores_ME = scores.on(q),
            .weights_Mk = weights.on(q).reshaped({tokens, top_k}),
            .lse_M = lse.on(q),
            .experts_Mk = integers(experts),
            .rows_Mk = integers(rows),
            .pairs_N = integers(pairs),
            .counts_E = integers(counts),
            .begins_E = integers(begins),
            .tokens = tokens,
            .n_experts = n_experts,
            .top_k = top_k};
  }
};
}  // namespace

TEST_CASE("a mixture of experts on a GPU", "[experts]") {
  MONOMORPH_NEEDS_GPU;
  constexpr std::int64_t features = 256, hidden = 200, M = MirroredRouting::tokens, N = MirroredRouting::n_rows;
  constexpr std::int64_t weights = MirroredRouting::n_experts * hidden;
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    CAPTURE(name_of(dtype));
    const MirroredRouting routing;
    const Mirror x = random_mirror({M, features}, dtype, 2), rows = random_mirror({N, features}, dtype, 3),
                 up = random_mirror({N, hidden}, dtype, 4), w = random_mirror({weights, features}, dtype, 5),
                 dw = random_mirror({weights, features}, DType::fp32, 6), dx = random_mirror({N, features}, dtype, 7);
    on_both([&](auto q) {
      const Routing r = routing.on(q);
      choose_experts(q, r, RouterScores::softmax, true, View{});
      sort_pairs(q, r, M);
      gather_rows(q, x.on(q), r, rows.on(q));
      expert_linear(q, rows.on(q), {{w.on(q)}}, up.on(q), r);
      expert_linear_backward_weight(q, up.on(q), rows.on(q), {{dw.on(q)}}, r, true);
      expert_linear_backward_input(q, up.on(q), {{w.on(q)}}, dx.on(q), r);
      combine_rows(q, dx.on(q), r, r.weights_Mk, x.on(q), x.on(q));
    });
    for (const Mirror* result :
         {&routing.experts, &routing.rows, &routing.pairs, &routing.counts, &routing.begins, &rows})
      result->check_equal();
    routing.weights.check_equal(tolerance(DType::fp32));
    for (const Mirror* result : {&up, &dx, &x}) result->check_equal(tolerance(dtype));
    dw.check_equal(tolerance(dtype));
  }
}

TEST_CASE("norms of gradients on a GPU have the bits of a CPU", "[optimizer]") {
  MONOMORPH_NEEDS_GPU;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64})
    for (const std::int64_t n : {64, 1000, 1'000'000})
      for (const GradientNorm order : {GradientNorm::one, GradientNorm::two, GradientNorm::infinity}) {
        CAPTURE(name_of(dtype), n);
        const Mirror x = random_mirror({1, n}, dtype, 1);
        MirrorOf<PartialGradientNorm> norm(PartialGradientNorm{});
        for (int time = 0; time < 2; ++time) on_both([&](auto q) { add_to_norm(q, x.on(q), order, norm.on(q)); });
        CHECK(norm.gpu().sum.value() == norm.cpu().sum.value());
        CHECK(norm.gpu().greatest == norm.cpu().greatest);
      }
}

TEST_CASE("the numbers of a step on a GPU have the bits of a CPU", "[step]") {
  MONOMORPH_NEEDS_GPU;
  MirrorOf<StepScalars> scalars([] {
    StepScalars s;
    s.micro_batch = {.loss = 123.456, .tokens = 100};
    s.gradient_norm.sum.add(1e4);
    s.loss_scale.value = 4;
    return s;
  }());
  for (const double max_norm : {0.5, 1e9})
    on_both([&](auto q) {
      end_micro_batch(q, scalars.on(q));
      decide_step(q, scalars.on(q),
                  StepSettings{.max_norm = max_norm, .loss_scaling = {.is_dynamic = true}, .number = 3}, false);
    });
  const StepScalars on_gpu = scalars.gpu();
  const StepOutcome &gpu = on_gpu.outcomes[1], &cpu = scalars.cpu().outcomes[1];
  CHECK(gpu.loss == cpu.loss);
  CHECK(gpu.gradient_norm == cpu.gradient_norm);
  CHECK(gpu.tokens == cpu.tokens);
  CHECK(gpu.applied == cpu.applied);
  CHECK(gpu.next_loss_scale == cpu.next_loss_scale);
  CHECK(on_gpu.decision.gradient_scale == scalars.cpu().decision.gradient_scale);
  CHECK(on_gpu.decision.update == scalars.cpu().decision.update);
}

}  // namespace monomorph::testing
