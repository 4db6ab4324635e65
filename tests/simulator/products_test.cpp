// cuBLASLt as the simulator has it: products of the backend beside those of a CPU, and what it refuses.
#include <cublasLt.h>

#include <array>

#include <monomorph/optim/muon.hpp>
#include <monomorph/runtime/kernels/linear_activate.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>

#include "gpu/matrices_together.hpp"
#include "simulator/simulator.hpp"
#include "support/error_of.hpp"
#include "support/rounded_sums.hpp"

namespace monomorph::testing {
namespace {

Mirror matrix(std::int64_t rows, std::int64_t cols, DType dtype, unsigned seed, std::int64_t gap) {
  return {random_matrix(rows, cols, seed), dtype, gap};
}

/// Descriptors of a product of fp32 matrices, by columns.
struct Described {
  cublasLtMatmulDesc_t product = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> a_b_d{};

  Described(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t k_of_b, std::int64_t stride,
            cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
    cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a_b_d[0], CUDA_R_32F, m, k, stride);
    cublasLtMatrixLayoutCreate(&a_b_d[1], CUDA_R_32F, k_of_b, n, k_of_b);
    cublasLtMatrixLayoutCreate(&a_b_d[2], CUDA_R_32F, m, n, m);
  }
  Described(const Described&) = delete;
  ~Described() {
    for (const auto layout : a_b_d) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(product);
  }
  template <class T> void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value);
  }
  /// Makes a matrix one of a batch, each `distance` elements behind the one before.
  void set_batch(std::size_t matrix, std::int32_t matrices, std::int64_t distance) const {
    cublasLtMatrixLayoutSetAttribute(a_b_d[matrix], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &matrices, sizeof matrices);
    cublasLtMatrixLayoutSetAttribute(a_b_d[matrix], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &distance,
                                     sizeof distance);
  }
  void choose() const {
    cublasLtMatmulHeuristicResult_t found;
    int n = 0;
    cublasLtMatmulAlgoGetHeuristic(nullptr, product, a_b_d[0], a_b_d[1], a_b_d[2], a_b_d[2], nullptr, 1, &found, &n);
  }
};

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("products on the simulated GPU are those of a CPU in every dtype, with gaps between rows, biases and sums") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for (const std::int64_t gap : {0, 8})
      for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{5, 24, 16}, {64, 8, 40}}) {
        CAPTURE(name_of(dtype), gap, m, n, k);
        const DType sum = statistics_dtype(dtype);
        const Mirror x = matrix(m, k, dtype, 1, gap), w = matrix(n, k, dtype, 2, gap), bias = matrix(1, n, dtype, 3, 0),
                     residual = matrix(m, n, dtype, 4, gap), dy = matrix(m, n, dtype, 5, gap);
        const Mirror y = matrix(m, n, dtype, 6, gap), z = matrix(m, n, dtype, 7, gap), dx = matrix(m, k, dtype, 8, gap),
                     dw = matrix(n, k, sum, 9, gap), dbias = matrix(1, n, sum, 10, 0);
        on_both([&](auto q) {
          linear(q, x.on(q), w.on(q), bias.on(q), y.on(q));
          linear_add(q, x.on(q), w.on(q), View{}, residual.on(q), z.on(q));
        });
        for (const Mirror* result : {&y, &z}) result->check_equal(tolerance(dtype));
        for (const bool accumulate : {false, true}) {
          on_both([&](auto q) {
            linear_backward_input(q, dy.on(q), w.on(q), dx.on(q), accumulate);
            linear_backward_weight(q, dy.on(q), x.on(q), dw.on(q), dbias.on(q), accumulate);
          });
          dx.check_equal(tolerance(dtype));
          for (const Mirror* result : {&dw, &dbias}) result->check_equal(tolerance(sum));
        }
      }
}

TEST_CASE("gradients of a router's products, of fp32 scores and 16 bits, are those of a CPU") {
  for (const DType dtype : {DType::bf16, DType::fp16})
    for (const bool accumulate : {false, true}) {
      CAPTURE(name_of(dtype), accumulate);
      const Mirror dy = matrix(30, 6, DType::fp32, 1, 0), x = matrix(30, 16, dtype, 2, 0),
                   w = matrix(6, 16, dtype, 3, 0);
      const Mirror dx = matrix(30, 16, dtype, 4, 0), dw = matrix(6, 16, DType::fp32, 5, 0);
      on_both([&](auto q) {
        linear_backward_input(q, dy.on(q), w.on(q), dx.on(q), accumulate);
        linear_backward_weight(q, dy.on(q), x.on(q), dw.on(q), View{}, accumulate);
      });
      dx.check_equal(tolerance(dtype));
      dw.check_equal(tolerance(DType::fp32));
    }
}

TEST_CASE("the simulated cuBLASLt refuses products of 8 bits that cuBLASLt has not") {
  struct Asked {
    std::int64_t m = 32, n = 16, k = 48;
    cudaDataType_t a = CUDA_R_8F_E4M3, b = CUDA_R_8F_E5M2, d = CUDA_R_32F;
    cublasOperation_t of_a = CUBLAS_OP_T, of_b = CUBLAS_OP_N;
    cudaDataType_t bias = CUDA_R_16BF;
  };
  const auto refused = [](const Asked& asked) {
    return refusal([&] {
      Described how(asked.m, asked.n, asked.k, asked.k, asked.k);
      for (const auto layout : how.a_b_d) cublasLtMatrixLayoutDestroy(layout);
      const bool a_t = asked.of_a == CUBLAS_OP_T, b_t = asked.of_b == CUBLAS_OP_T;
      cublasLtMatrixLayoutCreate(&how.a_b_d[0], asked.a, a_t ? asked.k : asked.m, a_t ? asked.m : asked.k,
                                 a_t ? asked.k : asked.m);
      cublasLtMatrixLayoutCreate(&how.a_b_d[1], asked.b, b_t ? asked.n : asked.k, b_t ? asked.k : asked.n,
                                 b_t ? asked.n : asked.k);
      cublasLtMatrixLayoutCreate(&how.a_b_d[2], asked.d, asked.m, asked.n, asked.m);
      how.set(CUBLASLT_MATMUL_DESC_TRANSA, asked.of_a);
      how.set(CUBLASLT_MATMUL_DESC_TRANSB, asked.of_b);
      how.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      how.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, asked.bias);
      how.choose();
    });
  };
  CHECK(refused({}).empty());
  CHECK(refused({.d = CUDA_R_16BF}).empty());
  CHECK(contains(refused({.a = CUDA_R_8F_E5M2}), "a product of these types"));
  CHECK(contains(refused({.b = CUDA_R_16BF}), "a product of these types"));
  CHECK(contains(refused({.of_a = CUBLAS_OP_N}), "a product of 8 bits but of"));
  CHECK(contains(refused({.of_b = CUBLAS_OP_T}), "a product of 8 bits but of"));
  CHECK(contains(refused({.m = 40}), "a product of 8 bits with 40"));
  CHECK(contains(refused({.n = 24}), "a product of 8 bits with 24"));
  CHECK(contains(refused({.k = 40}), "a product of 8 bits with 40"));
  CHECK(contains(refused({.bias = CUDA_R_32F}), "with a bias of this type"));
  const float scale = 1;
  Described wide(4, 5, 6, 6, 4);
  wide.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale);
  CHECK(contains(refusal([&] { wide.choose(); }), "scales of these types"));
}

TEST_CASE("a sum with beta 0 reads nothing of what was there") {
  const Mirror x = matrix(4, 8, DType::fp32, 1, 0), w = matrix(8, 8, DType::fp32, 2, 0);
  const Mirror y({4, 8, std::vector<double>(32, std::nan(""))}, DType::fp32);
  on_both([&](auto q) { linear(q, x.on(q), w.on(q), View{}, y.on(q)); });
  y.check_equal(tolerance(DType::fp32));
}

TEST_CASE("matrices that are made orthogonal on the simulated GPU are those of a CPU") {
  constexpr DType of_matrix_and_workspace[][2] = {{DType::fp32, DType::fp32},
                                                  {DType::bf16, DType::fp32},
                                                  {DType::fp64, DType::fp64}};
  for (const auto& [dtype, of_workspace] : of_matrix_and_workspace)
    for (const Shape shape : {Shape{8, 24}, {24, 8}, {16, 16}, {1, 5}})
      for (const std::int64_t iterations : {1, 5}) {
        CAPTURE(name_of(dtype), shape.rows, shape.cols, iterations);
        const Mirror x = matrix(shape.rows, shape.cols, dtype, 1, 0);
        const Mirror workspace(filled(1, optim::Muon::workspace_elements(shape), std::nan("")), of_workspace);
        on_both([&](auto q) { orthogonalize(q, x.on(q), workspace.on(q), 3, iterations); });
        x.check_equal(10 * tolerance(dtype));
      }
}

TEST_CASE("matrices that wait together are made orthogonal by the products of one matrix of each shape") {
  constexpr std::int64_t iterations = 5, products_of_iteration = 3, n_shapes = 3;
  constexpr DType of_matrix_and_workspace[][2] = {{DType::fp32, DType::fp32},
                                                  {DType::fp32, DType::bf16},
                                                  {DType::bf16, DType::bf16},
                                                  {DType::fp64, DType::bf16},
                                                  {DType::fp64, DType::fp64}};
  for (const auto& [dtype, of_workspace] : of_matrix_and_workspace) {
    CAPTURE(name_of(dtype), name_of(of_workspace));
    const MatricesTogether matrices({{8, 24}, {8, 24}, {8, 24}, {16, 16}, {16, 16}, {24, 8}}, dtype, of_workspace);
    const std::int64_t before = simulator::Simulator::the().counts().products;
    matrices.orthogonalize_on_both(iterations);
    CHECK(simulator::Simulator::the().counts().products - before == n_shapes * products_of_iteration * iterations);
    matrices.check_equal(of_workspace == DType::bf16 ? tolerance_of_bf16_iterations : 10 * tolerance(dtype));
  }
}

TEST_CASE("matrices whose scratch memory does not lie equally far apart are made orthogonal in the order of calls") {
  const MatricesTogether matrices({{8, 24}, {16, 16}, {8, 24}, {8, 24}, {24, 8}, {8, 24}}, DType::fp32, DType::fp32);
  matrices.orthogonalize_on_both(5);
  matrices.check_equal(10 * tolerance(DType::fp32));
}

namespace {
/// Matrices of 8 x 24, and room for the scratch memory of two.
struct ThreeAlike {
  static constexpr std::int64_t scratch = optim::Muon::workspace_elements({8, 24});
  Mirror x = matrix(8, 24, DType::fp32, 1, 0), y = matrix(8, 24, DType::fp32, 2, 0),
         z = matrix(8, 24, DType::fp32, 3, 0);
  Mirror workspace{filled(1, 2 * scratch, 0.5), DType::fp32};

  /// Scratch memory that begins with an element.
  View from(auto queue, std::int64_t element) const { return workspace.on(queue)[Slice{element, {1, scratch}}]; }
  void check_equal() const {
    for (const Mirror* result : {&x, &y, &z}) result->check_equal(10 * tolerance(DType::fp32));
  }
  std::int64_t products(auto f) const {
    const std::int64_t before = simulator::Simulator::the().counts().products;
    on_both([&](auto q) { update_together(q, [&](auto queue) { f(q, queue); }); });
    return simulator::Simulator::the().counts().products - before;
  }
};
}  // namespace

TEST_CASE("matrices that share scratch memory, or that are asked for in another way, take turns") {
  const ThreeAlike of;
  constexpr std::int64_t products_of_iteration = 3;
  SECTION("a batch behind another one") {
    CHECK(of.products([&](auto q, auto queue) {
      orthogonalize(queue, of.x.on(q), of.from(q, 0), 3, 1);
      orthogonalize(queue, of.y.on(q), of.from(q, of.scratch), 3, 1);
      orthogonalize(queue, of.z.on(q), of.from(q, 0), 3, 1);
    }) == 2 * products_of_iteration);
  }
  SECTION("partly") {
    CHECK(of.products([&](auto q, auto queue) {
      orthogonalize(queue, of.x.on(q), of.from(q, 0), 3, 1);
      orthogonalize(queue, of.y.on(q), of.from(q, of.scratch / 2), 3, 1);
    }) == 2 * products_of_iteration);
  }
  SECTION("another number of iterations") {
    CHECK(of.products([&](auto q, auto queue) {
      orthogonalize(queue, of.x.on(q), of.from(q, 0), 3, 2);
      orthogonalize(queue, of.y.on(q), of.from(q, of.scratch), 3, 1);
    }) == 3 * products_of_iteration);
  }
  SECTION("another dtype of the iteration") {
    CHECK(of.products([&](auto q, auto queue) {
      View in_bf16 = of.from(q, of.scratch);
      in_bf16.dtype = DType::bf16;
      orthogonalize(queue, of.x.on(q), of.from(q, 0), 3, 1);
      orthogonalize(queue, of.y.on(q), in_bf16, 3, 1);
    }) == 2 * products_of_iteration);
    of.x.check_equal(10 * tolerance(DType::fp32));
    return of.y.check_equal(tolerance_of_bf16_iterations);
  }
  SECTION("scratch memory whose beginning is less aligned") {
    CHECK(of.products([&](auto q, auto queue) {
      View shorter = of.from(q, 0);
      shorter.shape.cols -= 16;
      orthogonalize(queue, of.x.on(q).rows(0, 4), shorter, 3, 1);
      orthogonalize(queue, of.y.on(q).rows(0, 4), of.from(q, of.scratch - 16), 3, 1);
    }) == 2 * products_of_iteration);
  }
  SECTION("scratch memory that is a matrix, too") {
    CHECK(of.products([&](auto q, auto queue) {
      const View matrix = of.from(q, of.scratch).columns(0, 8 * 24).reshaped({8, 24});
      orthogonalize(queue, of.x.on(q), of.from(q, 0), 3, 1);
      orthogonalize(queue, matrix, of.from(q, 0), 3, 1);
      orthogonalize(queue, of.y.on(q), of.from(q, of.scratch), 3, 1);
      scale(queue, matrix, 1, of.z.on(q));
    }) == 3 * products_of_iteration);
  }
  of.check_equal();
}

TEST_CASE("a matrix that is transformed twice, and one behind another kernel, wait for what comes before") {
  const Shape shape{8, 24};
  const Mirror x = matrix(8, 24, DType::fp32, 1, 0), y = matrix(8, 24, DType::fp32, 2, 0),
               z = matrix(16, 8, DType::fp32, 3, 0);
  const std::int64_t scratch = optim::Muon::workspace_elements(shape);
  const Mirror workspace(filled(1, 2 * scratch, std::nan("")), DType::fp32);
  on_both([&](auto q) {
    const View first = workspace.on(q)[Slice{0, {1, scratch}}], second = workspace.on(q)[Slice{scratch, {1, scratch}}];
    update_together(q, [&](auto queue) {
      orthogonalize(queue, x.on(q), first, 3, 1);
      orthogonalize(queue, y.on(q), first, 3, 1);
      orthogonalize(queue, z.on(q), first, 3, 1);
      orthogonalize(queue, y.on(q), second, 2, 1);
      scale(queue, y.on(q), 2, y.on(q));  // another kernel starts what waits
      orthogonalize(queue, x.on(q), first, 3, 2);
    });
  });
  for (const Mirror* result : {&x, &y, &z}) result->check_equal(10 * tolerance(DType::fp32));
}

TEST_CASE("updates of runs and matrices that wait together keep the order of their calls") {
  constexpr std::int64_t n = 8 * 24;
  const Mirror master = matrix(1, n, DType::fp32, 1, 0), gradient = matrix(1, n, DType::fp32, 2, 0),
               mean = matrix(1, n, DType::fp32, 3, 0);
  const Mirror workspace(filled(1, optim::Muon::workspace_elements({8, 24}), std::nan("")), DType::fp32);
  MirrorOf<UpdateDecision> decision(UpdateDecision{.update = 1});
  on_both([&](auto q) {
    const ElementUpdate run{.gradient = gradient.on(q), .master = master.on(q), .state = {mean.on(q)}, .rounded = {}};
    const UpdateTerms terms{.decision = decision.on(q)};
    update_together(q, [&](auto queue) {
      momentum_mean(queue, run, {.momentum = 0.9, .nesterov = true}, terms);
      orthogonalize(queue, gradient.on(q).reshaped({8, 24}), workspace.on(q), 1, 5);
      step_along(queue, run, {.learning_rate = 0.1, .weight_decay = 0.1}, terms);
    });
  });
  for (const Mirror* result : {&master, &gradient, &mean}) result->check_equal(10 * tolerance(DType::fp32));
}

TEST_CASE("the simulated cuBLASLt refuses batches of which cuBLASLt would make something else") {
  const auto refused = [](const std::array<std::int32_t, 3>& batches, std::int64_t distance_of_d,
                          bool with_bias = false) {
    return refusal([&] {
      Described how(4, 5, 6, 6, 4);
      for (std::size_t i = 0; i < batches.size(); ++i) how.set_batch(i, batches[i], i == 2 ? distance_of_d : 64);
      if (with_bias) how.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      how.choose();
    });
  };
  CHECK(refused({2, 2, 2}, 20).empty());
  CHECK(refused({1, 1, 1}, 0).empty());
  CHECK(contains(refused({2, 1, 2}, 20), "a batch of 1 matrices"));
  CHECK(contains(refused({2, 2, 2}, 19), "matrices of a batch that overlap"));
  CHECK(contains(refused({2, 2, 2}, 20, true), "a batch of such products"));

  // One product may write what another one of the batch reads.
  const auto multiplied = [](std::int64_t distance_of_a) {
    Described how(4, 5, 6, 6, 4);
    const std::int64_t distances[] = {distance_of_a, 64, 20};
    for (std::size_t i = 0; i < 3; ++i) how.set_batch(i, 2, distances[i]);
    const Mirror a_and_d = matrix(1, 256, DType::fp32, 1, 0), b = matrix(1, 256, DType::fp32, 2, 0);
    float* const begin = a_and_d.on(cuda::Queue{}).as<float>();
    float* const d = begin + 24;
    const float one = 1, zero = 0;
    cublasLtMatmulHeuristicResult_t found;
    int n = 0;
    cublasLtMatmulAlgoGetHeuristic(nullptr, how.product, how.a_b_d[0], how.a_b_d[1], how.a_b_d[2], how.a_b_d[2],
                                   nullptr, 1, &found, &n);
    return refusal([&] {
      cublasLtMatmul(nullptr, how.product, &one, begin, how.a_b_d[0], b.on(cuda::Queue{}).data, how.a_b_d[1], &zero, d,
                     how.a_b_d[2], d, how.a_b_d[2], &found.algo, nullptr, 0, cuda::Queue{}.stream);
    });
  };
  CHECK(contains(multiplied(24), "a batch of which one product writes what another one reads"));
  CHECK(multiplied(100).empty());
}

TEST_CASE("contrastive losses on the simulated GPU are those of a CPU, with pairs that lack a text and other ranks'") {
  constexpr std::int64_t samples = 9, width = 6;
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const bool symmetric : {false, true})
      for (const bool trains : {false, true})
        for (const std::int64_t at_once : {2, 9}) {
          CAPTURE(name_of(dtype), symmetric, trains, at_once);
          Matrix of_all = random_matrix(2 * samples, width + 1, 1);
          for (std::int64_t row = 0; row < 2 * samples; ++row)
            of_all.values[row * (width + 1) + width] = row == 4 || row == 11 ? 0 : 1;
          const Mirror all(of_all, dtype), gradient(filled(8, width, std::nan("")), dtype);
          const Mirror workspace(filled(1, at_once * (samples + 2), std::nan("")), dtype);
          MirrorOf<LossSum> sum(LossSum{.loss = 1, .tokens = 2, .metrics = {3}});
          MirrorOf<double> scale(8);
          on_both([&](auto q) {
            contrastive_loss(q,
                             {.all = all.on(q),
                              .texts = 2,
                              .first = 3,
                              .n = 4,
                              .gradient_RE = trains ? gradient.on(q) : View{},
                              .workspace = workspace.on(q),
                              .scale = scale.on(q),
                              .sum = sum.on(q)},
                             {.temperature = 0.5, .symmetric = symmetric, .pairs_at_once = at_once});
          });
          const LossSum cpu = sum.cpu(), gpu = sum.gpu();
          CHECK(gpu.loss == Approx(cpu.loss).epsilon(tolerance(dtype)));
          CHECK(gpu.tokens == cpu.tokens);
          CHECK(gpu.metrics == cpu.metrics);
          if (trains) gradient.check_equal(10 * tolerance(dtype));
        }
}

TEST_CASE("a product and its activation are one kernel where cuBLASLt has it, and those of a CPU wherever") {
  constexpr std::int64_t m = 12, n = 24, k = 16;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for (const std::int64_t gap : {0, 4, 8})
      for (const bool biased : {false, true}) {
        CAPTURE(name_of(dtype), gap, biased);
        const Mirror x = matrix(m, k, dtype, 1, 0), w = matrix(n, k, dtype, 2, 0), bias = matrix(1, n, dtype, 3, 0),
                     h = matrix(m, n, dtype, 4, gap), y = matrix(m, n, dtype, 5, gap), dout = matrix(m, k, dtype, 6, 0),
                     dw = matrix(k, n, dtype, 7, 0), dh = matrix(m, n, dtype, 8, gap);
        const simulator::Counts before = simulator::Simulator::the().counts();
        on_both([&](auto q) {
          linear_activate<Activation::gelu_tanh>(q, x.on(q), w.on(q), biased ? bias.on(q) : View{}, h.on(q), y.on(q));
          const View got =
              linear_backward_input_activate<Activation::gelu_tanh>(q, dout.on(q), dw.on(q), h.on(q), dh.on(q));
          CHECK(got.data == dh.on(q).data);
        });
        const simulator::Counts after = simulator::Simulator::the().counts();
        const bool narrow = dtype == DType::bf16 || dtype == DType::fp16, fused = narrow && gap % 8 == 0;
        CHECK(after.products - before.products == 2);
        CHECK(after.kernels - before.kernels == (fused ? 0 : 2));
        h.check_equal(tolerance(dtype)), y.check_equal(tolerance(dtype)), dh.check_equal(2 * tolerance(dtype));
      }
}

TEST_CASE("a product and its activation are two kernels where cuBLASLt lacks the epilogue") {
  auto& gpu = simulator::Simulator::the();
  gpu.set_has_epilogues(false);
  const Mirror x = matrix(7, 32, DType::bf16, 1, 0), w = matrix(40, 32, DType::bf16, 2, 0),
               h = matrix(7, 40, DType::bf16, 4, 0), y = matrix(7, 40, DType::bf16, 5, 0);
  const std::int64_t before = gpu.counts().kernels;
  for (int i = 0; i < 2; ++i)
    on_both([&](auto q) { linear_activate<Activation::gelu_tanh>(q, x.on(q), w.on(q), View{}, h.on(q), y.on(q)); });
  CHECK(gpu.counts().kernels - before == 2);
  gpu.set_has_epilogues(true);
  h.check_equal(tolerance(DType::bf16)), y.check_equal(tolerance(DType::bf16));
}

TEST_CASE("what the simulated cuBLASLt does not know it refuses by name") {
  Described good(4, 5, 6, 6, 4);
  CHECK(refusal([&] { good.choose(); }).empty());
  CHECK(contains(refusal([&] { Described(4, 5, 6, 7, 4).choose(); }), "a product of these shapes"));
  CHECK(contains(refusal([&] { Described(4, 5, 6, 6, 3).choose(); }), "columns that overlap"));
  CHECK(contains(refusal([&] { Described(4, 5, 6, 6, 4, CUBLAS_COMPUTE_16F).choose(); }), "a product of these types"));
  CHECK(contains(refusal([&] {
                   good.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU);
                   good.choose();
                 }),
                 "the epilogue"));
  CHECK(contains(refusal([&] { good.set(CUBLASLT_MATMUL_DESC_FILL_MODE, 0); }), "the attribute"));
  CHECK(contains(refusal([&] { good.set(CUBLASLT_MATMUL_DESC_TRANSA, char{1}); }), "an attribute of 1 bytes"));
  CHECK(contains(refusal([] {
                   cublasLtMatrixLayout_t layout = nullptr;
                   cublasLtMatrixLayoutCreate(&layout, CUDA_R_8I, 1, 1, 1);
                 }),
                 "the type"));
}

}  // namespace monomorph::testing
