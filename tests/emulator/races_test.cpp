#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/qk_norm_rotary.hpp>
#include "emulator/emulator.hpp"
#include "emulator/sample_kernels.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"
#include "runtime/cuda/fp8/round_activation.hpp"
#include "runtime/cuda/fp8/round_rotated.hpp"
#include "runtime/cuda/fp8/round_to_fp8.hpp"
#include "runtime/cuda/layers/first_values.hpp"
#include "runtime/cuda/layers/round_norm.hpp"
#include "runtime/cuda/loss/contrast.hpp"
#include "runtime/cuda/products/mixed_products.hpp"
#include "runtime/cuda/sums/column_sums.hpp"
#include "runtime/cuda/sums/divide_by_norm.hpp"
#include "support/catch.hpp"
#include "support/scattered_pages.hpp"

#include <vector>

namespace {
int reports = 0;
}
/// ThreadSanitizer calls it for each race that it finds, and prints what it found besides.
extern "C" void __tsan_on_report(void*) { ++reports; }
/// A race that is expected must not fail the program, and kernels get the same memory one after the other.
extern "C" const char* __tsan_default_options() { return "exitcode=0:suppress_equal_addresses=0"; }

namespace monomorph::emulator {
namespace {

template <class F> int races_of(F f) {
  const int before = reports;
  for_each_schedule(f);
  return reports - before;
}

void sum(void (*sum_rows)(const float*, float*, int)) {
  constexpr int rows = 5;
  const std::vector<float> x(rows * samples::sum_threads, 1.0f);
  std::vector<float> sums(rows);
  sum_rows(x.data(), sums.data(), rows);
}

}  // namespace

TEST_CASE("threads that meet at barriers race for nothing") {
  CHECK(races_of([] { sum(samples::sum_rows); }) == 0);
}

TEST_CASE("a barrier that is missing is a race, whatever the results are") {
  CHECK(races_of([] { sum(samples::sum_rows_without_first_barrier); }) > 0);
  CHECK(races_of([] { sum(samples::sum_rows_without_second_barrier); }) > 0);
}

TEST_CASE("kernels race for nothing") {
  constexpr std::int64_t n = 64 * 9 + 5;
  std::vector<float> a(n, 1), b(n, 2);
  const auto view = [](std::vector<float>& x) {
    return View(reinterpret_cast<std::byte*>(x.data()), DType::fp32, {1, n});
  };
  const View parts[] = {view(a), view(b), view(a)};
  CHECK(races_of([&] {
          cuda::add({}, view(a), view(b));
          cuda::copy({}, view(a), view(b));
          cuda::zero({}, view(a));
          cuda::pairwise_sum({}, parts, view(a), true);
        }) == 0);
}

TEST_CASE("sums of columns race for nothing, of packs and of single elements") {
  constexpr std::int64_t rows = 200;
  for (const std::int64_t columns : {61, 136}) {
    std::vector<float> x(static_cast<std::size_t>(rows * columns), 1), sums(static_cast<std::size_t>(columns));
    const View in(reinterpret_cast<std::byte*>(x.data()), DType::fp32, {rows, columns});
    const View out(reinterpret_cast<std::byte*>(sums.data()), DType::fp32, {1, columns});
    CHECK(races_of([&] {
            cuda::column_sums({}, in, out, false);
            cuda::column_sums({}, in, out, true);
          }) == 0);
  }
}

TEST_CASE("drawing first values races for nothing") {
  constexpr std::int64_t n = 1001;
  std::vector<float> x(n);
  const View view(reinterpret_cast<std::byte*>(x.data()), DType::fp32, {1, n});
  std::vector<std::uint32_t> elements(n);
  for (const double cutoff : {0.0, 2.0})
    CHECK(races_of([&] {
            std::uint32_t count = 0;
            cuda::draw_normal({}, view, {{}, 3, 1, cutoff}, 0x1p-20, {&count, elements.data(), n});
            REQUIRE(count > 0);
            cuda::put_elements({}, view.columns(0, 1), elements.data(), view);
            cuda::fill_uniform({}, view, {}, 1, 0.5);
          }) == 0);
}

TEST_CASE("attention races for nothing") {
  constexpr std::int64_t tokens = 70, heads = 2, features = 40, columns = heads * features;
  std::vector<float> rows[8], lse(heads * tokens);
  for (auto& x : rows) x.assign(tokens * columns, 0.5f);
  const auto view = [&](int i) {
    return View(reinterpret_cast<std::byte*>(rows[i].data()), DType::fp32, {tokens, columns});
  };
  const View lse_BNT(reinterpret_cast<std::byte*>(lse.data()), DType::fp32, {heads, tokens});
  const testing::ScatteredPages scattered(2, 15);
  const PagedTokens new_tokens = scattered.tokens();
  for (const double cap : {0.0, 0.6}) {
    const AttentionShape shape{1, tokens, heads, heads, features, 0.1, cap};
    const cuda::AttentionCall call{view(0), view(1), view(2), view(3), lse_BNT, view(4),
                                   view(5), view(6), view(7), shape,   {}};
    const AttentionShape of_new_tokens{1, new_tokens.tokens, heads, heads, features, 0.1, cap};
    CHECK(races_of([&] {
            cuda::plain_attention({}, call);
            cuda::plain_attention_backward({}, call);
            cuda::write_to_pages({}, view(0).rows(0, new_tokens.tokens), view(1), new_tokens);
            cuda::paged_attention({}, view(0).rows(0, new_tokens.tokens), view(1), view(2),
                                  view(3).rows(0, new_tokens.tokens), of_new_tokens, {}, new_tokens);
          }) == 0);
  }
}

TEST_CASE("norms race for nothing, with teams of lanes and of blocks") {
  // A group has some lanes, a warp, a block; it is not aligned; registers do not hold it.
  for (const std::int64_t features : {64, 260, 1100, 259, 8196}) {
    const std::int64_t rows = features > 8192 ? 2 : 9;
    const auto elements = static_cast<std::size_t>(rows * features);
    std::vector<float> x(elements, 1), dy(elements, 2), statistics(static_cast<std::size_t>(rows), 1);
    std::vector<float> parameters(static_cast<std::size_t>(features), 1), gradients(parameters);
    const auto view = [](std::vector<float>& of, std::int64_t n_rows, std::int64_t cols) {
      return View(reinterpret_cast<std::byte*>(of.data()), DType::fp32, {n_rows, cols});
    };
    const View in = view(x, rows, features), out = view(dy, rows, features), of = view(statistics, 1, rows);
    const View weight = view(parameters, 1, features), dweight = view(gradients, 1, features);
    CHECK(races_of([&] {
            cuda::layer_norm({}, in, weight, weight, 1e-5, out, of, of);
            cuda::layer_norm({}, in, weight, weight, 1e-5, in, of, of);
            cuda::rms_norm_recompute({}, in, weight, View{}, of, out);
            cuda::layer_norm_backward({}, out, in, weight, of, of, out, false, dweight, View{}, true);
          }) == 0);
  }
}

TEST_CASE("rotations and dropout race for nothing") {
  std::vector<float> x(5 * 128, 1), angles(5 * 32, 1);
  const View rows(reinterpret_cast<std::byte*>(x.data()), DType::fp32, {5, 128});
  const View table(reinterpret_cast<std::byte*>(angles.data()), DType::fp32, {5, 32});
  CHECK(races_of([&] {
          cuda::rotary({}, rows, table, table, 5, 0, false);
          cuda::dropout_add({}, rows, rows, rows, {});
          cuda::swiglu_backward({}, rows, rows.columns(0, 64), rows);
          cuda::geglu_tanh_backward({}, rows, rows.columns(0, 64), rows);
        }) == 0);
}

TEST_CASE("norms and rotations of heads in one kernel race for nothing, where they stay, too") {
  constexpr std::int64_t rows = 5, queries = 3, keys = 1, features = 64, all = (queries + keys) * features;
  std::vector<float> x(rows * all, 1), y(x), angles(rows * features / 2, 1), weight(features, 1);
  std::vector<float> statistics(2 * rows * (queries + keys));
  const auto view = [](std::vector<float>& of, std::int64_t cols) {
    return View(reinterpret_cast<std::byte*>(of.data()), DType::fp32, {std::ssize(of) / cols, cols});
  };
  const View of = view(statistics, std::ssize(statistics));
  const auto call = [&](const View& from, const View& to) {
    return QkNormRotary{.q = {from.columns(0, queries * features),
                              view(weight, features),
                              {},
                              of.columns(0, rows * queries),
                              of.columns(rows * queries, rows * queries)},
                        .k = {from.columns(queries * features, keys * features),
                              view(weight, features),
                              {},
                              of.columns(2 * rows * queries, rows * keys),
                              of.columns(2 * rows * queries + rows * keys, rows * keys)},
                        .epsilon = 1e-5,
                        .qk_M = to,
                        .cos_TH = view(angles, features / 2),
                        .sin_TH = view(angles, features / 2),
                        .tokens = rows};
  };
  CHECK(races_of([&] {
          cuda::qk_norm_rotary({}, NormKind::layer_norm, call(view(x, all), view(y, all)));
          cuda::qk_norm_rotary({}, NormKind::rms_norm, call(view(x, all), view(x, all)));
        }) == 0);
}

TEST_CASE("updates and norms race for nothing") {
  constexpr std::int64_t n = 64 * 5;
  std::vector<float> gradient(n, 1), master(n, 2), moments(2 * n, 3);
  std::vector<std::uint16_t> narrow_master(n), narrow_moments(2 * n);
  const auto view = [](auto& x, DType dtype, std::int64_t first) {
    return View(reinterpret_cast<std::byte*>(x.data() + first), dtype, {1, n});
  };
  const UpdateDecision decision;
  const View g = view(gradient, DType::fp32, 0);
  PartialGradientNorm norm;
  CHECK(races_of([&] {
          cuda::adamw({},
                      {g, view(master, DType::fp32, 0), {view(moments, DType::fp32, 0), view(moments, DType::fp32, n)}},
                      {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
          cuda::adamw({},
                      {g,
                       view(narrow_master, DType::bf16, 0),
                       {view(narrow_moments, DType::bf16, 0), view(narrow_moments, DType::bf16, n)}},
                      {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
          update_together(cuda::Queue{}, [&](auto queue) {
            for (std::int64_t run = 0; run < n; run += 64) {
              const auto part = [&](auto& x, std::int64_t buffer) {
                return view(x, DType::fp32, buffer + run).columns(0, 64);
              };
              adamw(queue, {part(gradient, 0), part(master, 0), {part(moments, 0), part(moments, n)}},
                    {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
            }
          });
          cuda::add_to_norm({}, g, GradientNorm::two, &norm);
          cuda::add_to_norm({}, g, GradientNorm::infinity, &norm);
          cuda::divide_by_norm({}, g, 1e-7, view(master, DType::fp32, 0));
        }) == 0);
}

TEST_CASE("the ends of a decoder race for nothing") {
  constexpr std::int64_t rows = 4, columns = 136;
  std::vector<float> x(rows * columns, 1), table(rows * columns, 2), loss(rows);
  const std::vector<std::int32_t> ids{3, 1, 3, 3};
  const auto view = [](std::vector<float>& data) {
    return View(reinterpret_cast<std::byte*>(data.data()), DType::fp32,
                {rows, static_cast<std::int64_t>(data.size()) / rows});
  };
  LossSum sum;
  CHECK(races_of([&] {
          cuda::embedding({}, ids.data(), view(table), view(table), rows, 0, view(x));
          cuda::embedding_backward({}, ids.data(), view(x), view(table), false);
          cuda::position_embedding_backward({}, view(x), 2, view(table), true);
          cuda::cross_entropy({},
                              {.logits_CV = view(x),
                               .targets_C = ids.data(),
                               .vocab_size = columns - 3,
                               .loss_C = view(loss),
                               .dlogits_CV = view(x),
                               .sum = &sum},
                              {.label_smoothing = 0.1, .z_loss = 1e-4});
        }) == 0);
}

TEST_CASE("a mixture of experts races for nothing") {
  constexpr std::int64_t tokens = 20, experts = 3, chosen = 2, pairs = tokens * chosen, features = 20;
  std::vector<float> scores(tokens * experts), weights(pairs), lse(tokens), matrices(experts * features * features, 1);
  std::vector<float> x(tokens * features, 1), rows(pairs * features), hidden(pairs * features), gradients(matrices);
  std::vector<std::int32_t> integers(3 * pairs + 2 * experts + 1);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i * 7 % 31);
  const auto view = [](std::vector<float>& of, std::int64_t columns) {
    return View(reinterpret_cast<std::byte*>(of.data()), DType::fp32, {std::ssize(of) / columns, columns});
  };
  std::int32_t* const begins = integers.data() + 3 * pairs + experts;
  const Routing routing{view(scores, experts),
                        view(weights, chosen),
                        view(lse, tokens),
                        integers.data(),
                        integers.data() + pairs,
                        integers.data() + 2 * pairs,
                        integers.data() + 3 * pairs,
                        begins,
                        tokens,
                        experts,
                        chosen};
  const ExpertMatrices w{{view(matrices, features)}}, dw{{view(gradients, features)}};
  std::vector<std::int64_t> loads(experts);
  const StepScalars step;
  double loss = 0;
  const View of_rows = view(rows, features), of_hidden = view(hidden, features);
  CHECK(races_of([&] {
          cuda::choose_experts({}, routing, RouterScores::softmax, true, View{});
          cuda::sort_pairs({}, routing, 30);
          cuda::add_router_loss({}, routing, RouterScores::softmax, {0.1, 0.1}, &loss);
          cuda::add_loads({}, routing, loads.data());
          cuda::gather_rows({}, view(x, features), routing, of_rows);
          cuda::expert_linear({}, of_rows, w, of_hidden, routing);
          cuda::activate_rows({}, Activation::gelu_tanh, of_hidden, of_hidden, routing);
          cuda::expert_linear_backward_weight({}, of_hidden, of_rows, dw, routing, true);
          cuda::expert_linear_backward_input({}, of_hidden, w, of_rows, routing);
          cuda::weigh_rows_backward({}, of_hidden, of_rows, routing);
          cuda::combine_rows({}, of_rows, routing, routing.weights_Mk, View{}, view(x, features));
          cuda::choose_experts_backward({}, routing, RouterScores::softmax, true, {0.1, 0.1}, &step);
        }) == 0);
}

TEST_CASE("biases of experts, and products of two dtypes, race for nothing") {
  constexpr std::int64_t n = 20;
  std::vector<float> gradient(128), master(128), scores(300 * n, 1), dw(n * n);
  std::vector<std::uint16_t> x(300 * n), w(n * n);
  const std::vector<std::int64_t> loads(n, 3);
  const auto view = [](auto& of, DType dtype, std::int64_t columns) {
    return View(reinterpret_cast<std::byte*>(of.data()), dtype, {std::ssize(of) / columns, columns});
  };
  const UpdateDecision decision;
  const ElementUpdate run{.gradient = view(gradient, DType::fp32, 128), .master = view(master, DType::fp32, 128)};
  const View dy = view(scores, DType::fp32, n), in = view(x, DType::bf16, n);
  CHECK(races_of([&] {
          cuda::balance_biases({}, run, 0, loads.data(), n, 0.1, {.decision = &decision});
          cuda::mixed_backward_weight({}, dy, in, view(dw, DType::fp32, n), true);
          cuda::mixed_backward_input({}, dy, view(w, DType::bf16, n), in, true);
        }) == 0);
}

TEST_CASE("matrices that are rounded to fp8, and what is recorded of them, race for nothing") {
  constexpr std::int64_t rows = 160, cols = 160;
  std::vector<std::uint16_t> x(rows * cols, 0x3F80), half(rows * cols / 4, 0x3F80), history(6 * 40, 0x3F80);
  std::vector<std::uint8_t> rounded(rows * cols), transposed(rows * cols);
  std::vector<float> master(256), scales(12), mean(rows), rstd(rows), angles(rows * 32, 0.5F);
  std::vector<std::int64_t> maxima(6);
  const float scale = 2;
  const auto view = [](auto& of, DType dtype, Shape shape) {
    return View(reinterpret_cast<std::byte*>(of.data()), dtype, shape);
  };
  const UpdateDecision decision;
  const ElementUpdate run{.gradient = {}, .master = view(master, DType::fp32, {1, 256})};
  CHECK(
      races_of([&] {
        cuda::round_to_fp8({}, view(x, DType::bf16, {rows, cols}), &scale,
                           {view(rounded, DType::e4m3, {rows, cols}), view(transposed, DType::e4m3, {cols, rows})},
                           maxima.data());
        cuda::round_activation({}, Activation::swiglu, view(x, DType::bf16, {rows, cols}), &scale,
                               {view(rounded, DType::e4m3, {rows, cols / 2}), View{}}, maxima.data());
        cuda::round_activation_gradient({}, Activation::swiglu, view(x, DType::bf16, {rows / 2, cols}),
                                        view(half, DType::bf16, {rows / 2, cols / 2}),
                                        view(x, DType::bf16, {rows / 2, cols}), &scale,
                                        {view(rounded, DType::e5m2, {rows / 2, cols}),
                                         view(transposed, DType::e5m2, {cols, rows / 2})},
                                        maxima.data());
        cuda::transpose_fp8({}, view(rounded, DType::e4m3, {rows, cols}), view(transposed, DType::e4m3, {cols, rows}));
        cuda::round_norm({},
                         {.kind = NormKind::layer_norm,
                          .x_MK = view(x, DType::bf16, {rows, cols}),
                          .weight_K = view(half, DType::bf16, {1, cols}),
                          .bias_K = {},
                          .epsilon = 1e-5,
                          .mean_M = view(mean, DType::fp32, {1, rows}),
                          .rstd_M = view(rstd, DType::fp32, {1, rows})},
                         &scale, view(rounded, DType::e4m3, {rows, cols}), maxima.data());
        cuda::round_rotated_back({},
                                 {view(x, DType::bf16, {rows, cols}), 128, view(angles, DType::fp32, {rows, 32}),
                                  view(angles, DType::fp32, {rows, 32}), rows, nullptr},
                                 &scale,
                                 {view(rounded, DType::e5m2, {rows, cols}),
                                  view(transposed, DType::e5m2, {cols, rows})},
                                 maxima.data());
        cuda::amax_scales({}, view(history, DType::bf16, {6, 40}), 0, view(scales, DType::fp32, {1, 12}));
        cuda::record_amax({}, run, 0, {6, 40}, maxima.data(), {.decision = &decision});
      }) == 0);
}

TEST_CASE("sequences that are compared race for nothing") {
  constexpr std::int64_t samples = 3, tokens = 300;
  const std::vector<std::int32_t> targets(samples * tokens, 1);
  std::vector<std::int32_t> starts;
  for (std::int64_t i = 0; i < samples * tokens; ++i)
    starts.push_back(i % tokens < 120 ? 0 : i % tokens < 260 ? 120 : 260);
  const std::vector<double> reference(2 * samples, -1);
  std::vector<float> losses(samples * tokens, 1), weights(samples * tokens);
  std::vector<double> scores(2 * samples);
  const auto view = [](auto& of, DType dtype) {
    return View(reinterpret_cast<std::byte*>(of.data()), dtype, {1, std::ssize(of)});
  };
  LossSum sum;
  const SequenceBatch batch{.loss_M = view(losses, DType::fp32),
                            .targets_M = targets.data(),
                            .document_starts_M = starts.data(),
                            .tokens = tokens,
                            .sequences = 2,
                            .reference_BK = reference.data(),
                            .log_probability_BK = view(scores, DType::fp64),
                            .weight_M = view(weights, DType::fp32),
                            .sum = &sum};
  CHECK(races_of([&] { cuda::preference_loss({}, batch, {}); }) == 0);
}

TEST_CASE("making numbers of NF4 races for nothing") {
  constexpr std::int64_t elements = 5 * 1'024;
  Layout layout;
  const Nf4Places places(layout, elements);
  std::vector<std::byte> bytes(static_cast<std::size_t>(layout.elements), std::byte{0x3E});
  const Nf4Matrix matrix(View(bytes.data(), DType::u8, {1, layout.elements}), places);
  std::vector<float> numbers(elements);
  const View view(reinterpret_cast<std::byte*>(numbers.data()), DType::fp32, {1, elements});
  CHECK(races_of([&] { cuda::dequantize_nf4({}, matrix, view); }) == 0);
}

TEST_CASE("a student that is compared with its teacher races for nothing") {
  constexpr std::int64_t rows = 3, columns = 140, vocab_size = 137;
  std::vector<float> student(rows * columns), teacher(student), losses(rows), metrics(4 * rows);
  for (std::size_t i = 0; i < student.size(); ++i)
    student[i] = static_cast<float>(i * 7 % 31) / 8, teacher[i] = static_cast<float>(i * 5 % 23) / 8;
  const std::vector<std::int32_t> targets{5, ignored_target, 7};
  const auto view = [](std::vector<float>& of, std::int64_t width) {
    return View(reinterpret_cast<std::byte*>(of.data()), DType::fp32, {std::ssize(of) / width, width});
  };
  LossSum sum;
  for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon})
    CHECK(races_of([&] {
            cuda::distillation_loss({},
                                    {{.logits_CV = view(student, columns),
                                      .targets_C = targets.data(),
                                      .vocab_size = vocab_size,
                                      .loss_C = view(losses, rows),
                                      .dlogits_CV = view(student, columns),
                                      .sum = &sum},
                                     view(teacher, columns),
                                     view(metrics, rows)},
                                    {.divergence = divergence, .temperature = 2});
          }) == 0);
}

TEST_CASE("pooling and partners race for nothing") {
  constexpr std::int64_t samples = 3, tokens = 5, texts = 2, features = 7;
  const std::vector<std::int32_t> text_of{0, 0, 1, 1, 2, 0, 1, 1, 2, 2, 1, 1, 0, 0, 0};
  std::vector<float> x(samples * tokens * features, 1), all(samples * texts * (features + 1), 1),
      products(samples * samples, 1), losses(samples), gradients(samples * texts * features);
  std::vector<std::int32_t> found(samples);
  const auto view = [](std::vector<float>& of, std::int64_t columns) {
    return View(reinterpret_cast<std::byte*>(of.data()), DType::fp32, {std::ssize(of) / columns, columns});
  };
  const TextPooling pooling{.kind = Pooling::mean, .tokens = tokens, .texts = texts};
  const View embeddings = view(all, features + 1), in = view(x, features), of_texts = embeddings.columns(0, features);
  LossSum sum;
  const TextEmbeddings compared{.all = embeddings,
                                .texts = texts,
                                .first = 0,
                                .n = samples,
                                .gradient_RE = view(gradients, features),
                                .workspace = {},
                                .sum = &sum};
  const PartnerSearch search{&compared, 0.5, 1, 0, view(products, samples), view(losses, samples), found.data()};
  CHECK(races_of([&] {
          cuda::pool_texts({}, in, text_of.data(), pooling, of_texts, embeddings.columns(features, 1));
          cuda::unit_length({}, of_texts, of_texts);
          cuda::find_partners({}, search);
          cuda::add_found({}, search, true);
          cuda::unit_length_backward({}, view(gradients, features), of_texts);
          cuda::pool_texts_backward({}, of_texts, text_of.data(), pooling, in);
        }) == 0);
}

}  // namespace monomorph::emulator
