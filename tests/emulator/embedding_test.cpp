#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "support/generic_arithmetic.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>

#include <vector>

namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;
using enum DType;

struct Dtypes {
  DType table, x;
};
constexpr Dtypes in_use[] = {{fp32, fp32}, {bf16, bf16}, {fp64, fp64}, {fp16, fp16},
                             {fp32, bf16}, {fp32, fp16}, {bf16, fp32}};

/// Columns and elements between rows, so that rows begin as packs do or do not.
struct Layout {
  std::int64_t columns, gap;
};
constexpr Layout layouts[] = {{1, 0}, {24, 8}, {61, 3}, {264, 0}, {264, 5}};

constexpr std::int64_t n_ids = 11;

/// Some ids many times, some never.
std::vector<std::int32_t> some_ids(std::int64_t rows) {
  std::vector<std::int32_t> ids;
  for (std::int64_t row = 0; row < rows; ++row)
    ids.push_back(row % 3 != 0 ? 4 : static_cast<std::int32_t>(row * 7 % (n_ids - 1)));
  return ids;
}

/// `f(queue, output)` on both devices, from the same bytes on.
template <class F> void check_bits(const Storage& before, const F& f) {
  const auto run = [&](auto queue) {
    const Storage output(before);
    f(queue, View(const_cast<std::byte*>(output.bytes().data()), before.view().dtype, before.view().shape,
                  before.view().stride));
    return output.bytes();
  };
  const std::vector<std::byte> expected = [&] {
    const GenericArithmetic arithmetic;  // others fuse the product with a scale
    return run(cpu::Queue{});
  }();
  for_each_schedule([&] { CHECK((run(cuda::Queue{}) == expected)); });
}

template <class F> void for_each_layout(const F& f) {
  for (const Dtypes dtypes : in_use)
    for (const Layout layout : layouts) {
      CAPTURE(name_of(dtypes.table), name_of(dtypes.x), layout.columns, layout.gap);
      f(dtypes, layout);
    }
}

}  // namespace

TEST_CASE("embeddings on a GPU have the bits of the CPU", "[embedding]") {
  for (const std::int64_t tokens : {5, 20})
    for_each_layout([&](Dtypes dtypes, Layout layout) {
      const std::int64_t rows = 40;
      const auto ids = some_ids(rows), starts = growing_documents(rows, tokens);
      const Storage table(random_matrix(n_ids, layout.columns, 1), dtypes.table, layout.gap),
          positions(random_matrix(22, layout.columns, 2), dtypes.table, layout.gap),
          before(filled(rows, layout.columns, 7), dtypes.x, layout.gap);
      check_bits(before, [&](auto queue, View x) { embedding(queue, ids.data(), table.view(), {}, tokens, 0, x); });
      check_bits(before, [&](auto queue, View x) {
        embedding(queue, ids.data(), table.view(), positions.view(), tokens, 2, x);
      });
      check_bits(before, [&](auto queue, View x) {
        embedding(queue, ids.data(), table.view(), positions.view(), tokens, 0, x, starts.data());
      });
      check_bits(before, [&](auto queue, View x) {
        embedding(queue, ids.data(), table.view(), positions.view(), tokens, 0, x, nullptr, 33.9);
      });
    });
}

TEST_CASE("the gradient of a table on a GPU has the bits of the CPU", "[embedding]") {
  for (const bool accumulate : {false, true})
    for (const std::int64_t rows : {0, 1, 210})
      for_each_layout([&](Dtypes dtypes, Layout layout) {
        CAPTURE(accumulate, rows);
        const auto ids = some_ids(rows);
        const Storage dx(random_matrix(rows, layout.columns, 1), dtypes.x, layout.gap);
        check_bits(Storage(random_matrix(n_ids, layout.columns, 2), dtypes.table, layout.gap),
                   [&](auto queue, View dtable) {
                     embedding_backward(queue, ids.data(), dx.view(), dtable, accumulate);
                   });
        check_bits(Storage(random_matrix(n_ids, layout.columns, 2), dtypes.table, layout.gap),
                   [&](auto queue, View dtable) {
                     embedding_backward(queue, ids.data(), dx.view(), dtable, accumulate, 33.9);
                   });
      });
}

TEST_CASE("the gradient of positions on a GPU has the bits of the CPU", "[embedding]") {
  for (const bool accumulate : {false, true})
    for_each_layout([&](Dtypes dtypes, Layout layout) {
      const std::int64_t rows = 77, tokens = 10;  // the last sequence is cut
      const Storage dx(random_matrix(rows, layout.columns, 1), dtypes.x, layout.gap);
      const auto starts = growing_documents(rows, tokens);
      for (const std::int32_t* document_starts : {static_cast<const std::int32_t*>(nullptr), starts.data()})
        for (const std::int64_t positions : {7, 12}) {
          CAPTURE(accumulate, positions, document_starts != nullptr);
          check_bits(Storage(random_matrix(positions, layout.columns, 2), dtypes.table, layout.gap),
                     [&](auto queue, View dpositions) {
                       position_embedding_backward(queue, dx.view(), tokens, dpositions, accumulate, document_starts);
                     });
        }
    });
}

}  // namespace monomorph::emulator
