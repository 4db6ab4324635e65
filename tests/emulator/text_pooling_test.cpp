#include "emulator/gpu_case.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

namespace monomorph::emulator {
namespace {

constexpr std::int64_t samples = 3, tokens = 9, texts = 2;
/// Texts in pieces, side by side, and of one token; tokens of no text, or of one that a sample has not; a text without
/// tokens, and a sample without texts.
const std::vector<std::int32_t> text_of{0,
                                        0,
                                        ignored_target,
                                        1,
                                        1,
                                        0,
                                        1,
                                        2,
                                        ignored_target,  //
                                        ignored_target,
                                        1,
                                        1,
                                        1,
                                        5,
                                        5,
                                        5,
                                        5,
                                        5,  //
                                        ignored_target,
                                        2,
                                        2,
                                        2,
                                        2,
                                        2,
                                        2,
                                        2,
                                        ignored_target};
constexpr Pooling all_poolings[] = {Pooling::mean, Pooling::first, Pooling::last};

void for_each_case(const std::function<void(DType, DType, const TextPooling&, std::int64_t columns)>& f) {
  for (const DType dtype : all_dtypes)
    for (const DType pooled : {dtype, statistics_dtype(dtype)})
      for (const Pooling kind : all_poolings)
        for (const std::int64_t columns : {1, 24, 300}) {
          CAPTURE(name_of(dtype), name_of(pooled), static_cast<int>(kind), columns);
          f(dtype, pooled, {.kind = kind, .tokens = tokens, .texts = texts}, columns);
        }
}

}  // namespace

TEST_CASE("texts are pooled with the bits of the CPU", "[text_pooling]") {
  for_each_case([](DType dtype, DType pooled, const TextPooling& pooling, std::int64_t columns) {
    const auto pool = [&](auto queue, const std::vector<View>& in, const std::vector<View>& out) {
      pool_texts(queue, in[0], text_of.data(), pooling, out[0], out[1].columns(2, 1));
    };
    check_same_bits(
        {Storage(random_matrix(samples * tokens, columns, 1), dtype, 5)},
        {Storage(filled(samples * texts, columns, 7), pooled, 3),
         Storage(filled(samples * texts, 4, 7), statistics_dtype(dtype))},
        [&](const auto& in, const auto& out) { pool(gpu_queue, in, out); },
        [&](const auto& in, const auto& out) { pool(cpu_queue, in, out); });
  });
}

TEST_CASE("gradients of pooled texts have the bits of the CPU", "[text_pooling]") {
  for_each_case([](DType dtype, DType pooled, const TextPooling& pooling, std::int64_t columns) {
    const auto spread = [&](auto queue, const std::vector<View>& in, const std::vector<View>& out) {
      pool_texts_backward(queue, in[0], text_of.data(), pooling, out[0]);
    };
    check_same_bits(
        {Storage(random_matrix(samples * texts, columns, 1), pooled, 3)},
        {Storage(filled(samples * tokens, columns, 7), dtype, 5)},
        [&](const auto& in, const auto& out) { spread(gpu_queue, in, out); },
        [&](const auto& in, const auto& out) { spread(cpu_queue, in, out); });
  });
}

TEST_CASE("rows of unit length, and their gradients, are the CPU's, rows of zeros included", "[text_pooling]") {
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const std::int64_t columns : {1, 5, 70}) {
      CAPTURE(name_of(dtype), columns);
      Matrix matrix = random_matrix(11, columns, 1);
      std::fill_n(matrix.values.begin() + 3 * columns, columns, 0.0);
      const Storage x(matrix, dtype, 2), dy(random_matrix(11, columns, 2), dtype, 3);
      const auto run = [&](auto queue) {
        std::vector<Storage> results{Storage(filled(11, columns, 7), dtype, 1), x};
        unit_length(queue, writable(x), writable(results[0]));
        unit_length_backward(queue, writable(dy), writable(results[1]));
        return results;
      };
      const std::vector<Storage> expected = run(cpu_queue);
      for_each_schedule([&] {
        const std::vector<Storage> actual = run(gpu_queue);
        for (std::size_t i = 0; i < actual.size(); ++i) {
          CHECK(relative_error(values_of(actual[i]), values_of(expected[i])) <= (dtype == DType::fp64 ? 1e-14 : 1e-6));
          CHECK(actual[i].gap_untouched());
        }
      });
    }
}

TEST_CASE("pooling refuses dtypes that activations have not", "[text_pooling]") {
  const Storage x(random_matrix(samples * tokens, 4, 1), DType::fp32),
      y(random_matrix(samples * texts, 4, 1), DType::bf16);
  const TextPooling pooling{.kind = Pooling::mean, .tokens = tokens, .texts = texts};
  CHECK_THROWS_AS(cuda::pool_texts_backward(gpu_queue, writable(y), text_of.data(), pooling, writable(x)),
                  std::logic_error);
}

}  // namespace monomorph::emulator
