#include "emulator/emulator.hpp"
#include "runtime/cuda/attention/attention_band.hpp"
#include "runtime/cuda/attention/attention_pieces.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"
#include "runtime/kernels/row_mask.hpp"
#include "support/catch.hpp"
#include "support/scattered_pages.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

/// Attention of a GPU against that of a CPU, which is checked against an oracle. Legend: i is a query, j a key.
namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;

const cuda::Queue on_gpu;
constexpr cpu::Queue on_cpu{};
constexpr std::int64_t unlimited = AttentionMask::unlimited;

struct Bound {
  DType dtype;
  double error;  ///< relative
};
constexpr Bound bounds[] = {{DType::fp32, 3e-6}, {DType::fp64, 1e-12}, {DType::bf16, 1e-2}, {DType::fp16, 2e-3}};

AttentionShape shape_of(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads,
                        std::int64_t head_dim) {
  return {batch, tokens, heads, kv_heads, head_dim, 1 / std::sqrt(static_cast<double>(head_dim))};
}

struct Problem {
  DType dtype;
  AttentionShape shape;
  AttentionMask mask;
  std::vector<std::int32_t> documents = {};  ///< none if empty
  std::optional<DropoutKey> dropout = {};
};

/// Inputs and results. q, k and v are slices of one buffer with columns beside them, and so are the gradients.
struct Call : Problem {
  Storage qkv, dout, out, lse, dqkv;
  static constexpr std::int64_t spare = 3;

  explicit Call(const Problem& problem)
      : Problem(problem),
        qkv(random_matrix(rows(), qkv_columns(), 1), dtype),
        dout(random_matrix(rows(), shape.heads * shape.head_dim, 2), dtype, 2),
        out(filled(rows(), shape.heads * shape.head_dim, 7), dtype, 1),
        lse(filled(shape.batch * shape.heads, shape.tokens, 7), dtype_of(Role::statistics, dtype)),
        dqkv(filled(rows(), qkv_columns(), 7), dtype) {}

  std::int64_t rows() const { return shape.batch * shape.tokens; }
  std::int64_t qkv_columns() const { return (shape.heads + 2 * shape.kv_heads) * shape.head_dim + spare; }
  View q(const Storage& x) const { return x.view().columns(0, shape.heads * shape.head_dim); }
  View k(const Storage& x) const {
    return x.view().columns(shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim);
  }
  View v(const Storage& x) const {
    return x.view().columns((shape.heads + shape.kv_heads) * shape.head_dim, shape.kv_heads * shape.head_dim);
  }
  const std::int32_t* starts() const { return documents.empty() ? nullptr : documents.data(); }

  void run_on_cpu() {
    const View o = out.view(), l = lse.view(), d = dout.view();
    if (dropout) {
      cpu::reference_attention(on_cpu, q(qkv), k(qkv), v(qkv), o, l, shape, mask, *dropout, starts());
      cpu::reference_attention_backward(on_cpu, q(qkv), k(qkv), v(qkv), o, l, d, q(dqkv), k(dqkv), v(dqkv), shape, mask,
                                        *dropout, starts());
      return;
    }
    cpu::tiled_attention(on_cpu, q(qkv), k(qkv), v(qkv), o, l, shape, mask, starts());
    cpu::tiled_attention_backward(on_cpu, q(qkv), k(qkv), v(qkv), o, l, d, q(dqkv), k(dqkv), v(dqkv), shape, mask,
                                  starts());
  }
  void run_on_gpu() {
    const View o = out.view(), l = lse.view(), d = dout.view();
    if (dropout) {
      cuda::reference_attention(on_gpu, q(qkv), k(qkv), v(qkv), o, l, shape, mask, *dropout, starts());
      cuda::reference_attention_backward(on_gpu, q(qkv), k(qkv), v(qkv), o, l, d, q(dqkv), k(dqkv), v(dqkv), shape,
                                         mask, *dropout, starts());
      return;
    }
    const cuda::AttentionCall call{q(qkv), k(qkv), v(qkv), o, l, d, q(dqkv), k(dqkv), v(dqkv), shape, mask, starts()};
    cuda::plain_attention(on_gpu, call);
    cuda::plain_attention_backward(on_gpu, call);
  }
};

/// The largest difference, relative to the largest of the expected values.
double distance(const Storage& actual, const Storage& expected) {
  const Values a = actual.values(), b = expected.values();
  double largest = 1e-300, difference = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / largest;
}

/// Results are the CPU's but for rounding, what lies between rows is as it was, and every schedule has the same bits.
void check(const Problem& problem, double bound) {
  CAPTURE(name_of(problem.dtype), problem.shape.batch, problem.shape.tokens, problem.shape.heads,
          problem.shape.kv_heads, problem.shape.head_dim);
  CAPTURE(problem.mask.before, problem.mask.after, problem.mask.prefix, problem.documents.size());
  Call expected(problem);
  expected.run_on_cpu();
  std::optional<Call> first;
  for_each_schedule([&] {
    Call actual(problem);
    actual.run_on_gpu();
    if (!first) {
      CHECK(distance(actual.out, expected.out) < bound);
      CHECK(distance(actual.lse, expected.lse) < bound);
      CHECK(distance(actual.dqkv, expected.dqkv) < bound);
      CHECK(actual.out.gap_untouched());
      first.emplace(std::move(actual));
      return;
    }
    CHECK((actual.out.bytes() == first->out.bytes()));
    CHECK((actual.lse.bytes() == first->lse.bytes()));
    CHECK((actual.dqkv.bytes() == first->dqkv.bytes()));
  });
}

std::vector<AttentionMask> masks() {
  return {{}, {unlimited, unlimited, 0}, {9, 0, 0}, {0, 0, 0}, {20, 40, 0}, {unlimited, 0, 37}, {3, 0, 50}, {70, 0, 0}};
}

/// Which pairs of a query and a key count, in a problem of one sample.
std::vector<std::vector<bool>> pairs_of(const Problem& problem) {
  const std::int64_t tokens = problem.shape.tokens;
  const RowMask mask{problem.mask, tokens, problem.documents.empty() ? nullptr : problem.documents.data()};
  std::vector<std::vector<bool>> pairs(tokens, std::vector<bool>(tokens));
  for (std::int64_t i = 0; i < tokens; ++i)
    for (std::int64_t j = mask.keys(i).first; j < mask.keys(i).end; ++j) pairs[i][j] = true;
  return pairs;
}

bool same_row(const View& a, const View& b, std::int64_t row) {
  return std::memcmp(a.rows(row, 1).data, b.rows(row, 1).data, a.shape.cols * size_of(a.dtype)) == 0;
}

/// Gives a token a key and a value that are no numbers, and then a query and a gradient: what does not follow from them
/// has the bits of the clean call.
void check_hidden(const Call& clean, std::int64_t token, double poison) {
  const auto sees = pairs_of(clean);
  const std::int64_t tokens = clean.shape.tokens;
  Call of_key(clean), of_query(clean);
  for (const View& x : {of_key.k(of_key.qkv), of_key.v(of_key.qkv), of_query.q(of_query.qkv), of_query.dout.view()})
    cpu::fill(on_cpu, x.rows(token, 1), poison);
  of_key.run_on_gpu();
  of_query.run_on_gpu();
  for (std::int64_t i = 0; i < tokens; ++i) {
    CAPTURE(token, i);
    if (!sees[i][token]) {
      CHECK(same_row(of_key.out.view(), clean.out.view(), i));
      CHECK(same_row(of_key.q(of_key.dqkv), clean.q(clean.dqkv), i));
    }
    if (i != token) {
      CHECK(same_row(of_query.out.view(), clean.out.view(), i));
      CHECK(same_row(of_query.q(of_query.dqkv), clean.q(clean.dqkv), i));
    }
    if (!sees[token][i]) {
      CHECK(same_row(of_query.k(of_query.dqkv), clean.k(clean.dqkv), i));
      CHECK(same_row(of_query.v(of_query.dqkv), clean.v(clean.dqkv), i));
    }
  }
}

std::vector<std::int32_t> documents_of(const AttentionShape& shape) {
  return growing_documents(shape.batch * shape.tokens, shape.tokens);
}

}  // namespace

TEST_CASE("attention of a GPU is the CPU's but for rounding, under every mask", "[attention]") {
  for (const Bound bound : {bounds[0], bounds[1]})
    for (const AttentionMask& mask : masks())
      for (const bool within_documents : {false, true}) {
        Problem problem{bound.dtype, shape_of(2, 83, 2, 1, 8), mask};
        if (within_documents) problem.documents = documents_of(problem.shape);
        check(problem, bound.error);
      }
}

TEST_CASE("attention of a GPU caps scores as the CPU does", "[attention]") {
  const auto capped = [](AttentionShape shape) {
    shape.cap = 0.6;
    return shape;
  };
  for (const Bound bound : bounds)
    for (const AttentionShape& shape :
         {shape_of(2, 83, 4, 2, 8), shape_of(1, 65, 2, 1, 80), shape_of(1, 67, 2, 1, 200)})
      for (const bool within_documents : {false, true}) {
        Problem problem{bound.dtype, capped(shape), {30, 0, 0}};
        if (within_documents) problem.documents = documents_of(problem.shape);
        check(problem, bound.error);
      }
  DropoutKey key;
  key.rate = 0.3;
  key.tokens_per_sample = 71;
  check({DType::fp32, capped(shape_of(2, 71, 4, 2, 16)), {30, 2, 0}, {}, key}, bounds[0].error);
}

TEST_CASE("what a query does not see reaches none of a GPU's results, even if it is no number", "[attention]") {
  const auto [dtype, features] =
      GENERATE(std::pair{DType::fp32, 8}, std::pair{DType::fp32, 200}, std::pair{DType::bf16, 8},
               std::pair{DType::fp16, 8}, std::pair{DType::fp64, 8});
  for (const AttentionMask& mask : masks())
    for (const bool within_documents : {false, true}) {
      Problem problem{dtype, shape_of(1, 83, 2, 1, features), mask};
      if (within_documents) problem.documents = documents_of(problem.shape);
      CAPTURE(mask.before, mask.after, mask.prefix, within_documents);
      Call clean(problem);
      clean.run_on_gpu();
      check_hidden(clean, 3, std::nan(""));
      check_hidden(clean, 40, static_cast<double>(INFINITY));
    }
}

TEST_CASE("attention of a GPU takes any number of tokens, heads and features", "[attention]") {
  for (const Bound bound : bounds)
    for (const AttentionShape& shape :
         {shape_of(1, 1, 1, 1, 1), shape_of(2, 5, 2, 2, 3), shape_of(3, 1, 4, 2, 8), shape_of(1, 64, 2, 2, 64),
          shape_of(1, 65, 6, 2, 33), shape_of(1, 129, 2, 1, 80), shape_of(1, 70, 1, 1, 128), shape_of(1, 67, 2, 1, 200),
          shape_of(1, 40, 2, 1, 256)})
      check({bound.dtype, shape, {}}, bound.error);
}

TEST_CASE("attention of a GPU drops what the CPU drops", "[attention]") {
  DropoutKey key;
  key.seed = 0x123456789ABCDEF0;
  key.step = (std::uint64_t{1} << 40) + 3;
  key.first_sample = (std::uint64_t{1} << 32) - 1;
  key.layer = 3;
  key.site = 1;
  for (const Bound bound : bounds)
    for (const double rate : {0.0, 0.3})
      for (const bool within_documents : {false, true}) {
        Problem problem{bound.dtype, shape_of(2, 71, 4, 2, 16), {30, 2, 0}};
        key.tokens_per_sample = problem.shape.tokens;
        key.rate = rate;
        problem.dropout = key;
        if (within_documents) problem.documents = documents_of(problem.shape);
        check(problem, bound.error);
      }
}

namespace {
void check_pages(double cap) {
  for (const Bound bound : bounds)
    for (const std::int64_t length : {1, 2, 31, 33, 70})
      for (const AttentionMask& mask : {AttentionMask{}, AttentionMask{20, 0, 0}, AttentionMask{0, 0, 0}})
        for (const AttentionShape& one : {shape_of(1, 1, 4, 2, 12), shape_of(1, 1, 2, 1, 256)}) {
          CAPTURE(name_of(bound.dtype), length, mask.before, one.head_dim);
          const ScatteredPages scattered(2, length);
          const PagedTokens tokens = scattered.tokens();
          AttentionShape shape = one;
          shape.tokens = tokens.tokens;
          shape.cap = cap;
          const std::int64_t wide = shape.heads * shape.head_dim, narrow = shape.kv_heads * shape.head_dim;
          const Storage q(random_matrix(shape.tokens, wide, 1), bound.dtype, 5);
          const Storage k(random_matrix(scattered.cache_rows(), narrow, 2), bound.dtype, 3);
          const Storage v(random_matrix(scattered.cache_rows(), narrow, 3), bound.dtype, 1);
          const Storage expected(filled(shape.tokens, wide, 7), bound.dtype, 4);
          cpu::paged_attention(on_cpu, q.view(), k.view(), v.view(), expected.view(), shape, mask, tokens);
          std::optional<std::vector<std::byte>> first;
          for_each_schedule([&] {
            const Storage actual(filled(shape.tokens, wide, 7), bound.dtype, 4);
            cuda::paged_attention(on_gpu, q.view(), k.view(), v.view(), actual.view(), shape, mask, tokens);
            CHECK(distance(actual, expected) < bound.error);
            CHECK(actual.gap_untouched());
            if (!first) first = actual.bytes();
            CHECK((actual.bytes() == *first));
          });
        }
}
}  // namespace

TEST_CASE("a GPU attends to pages of a cache as a CPU does", "[attention]") { check_pages(0); }
TEST_CASE("a GPU caps scores of pages of a cache as a CPU does", "[attention]") { check_pages(0.6); }

TEST_CASE("a GPU writes new tokens to their pages", "[attention]") {
  for (const Bound bound : bounds) {
    const ScatteredPages scattered(3, 40);
    const PagedTokens tokens = scattered.tokens();
    const Storage x(random_matrix(tokens.tokens, 300, 1), bound.dtype, 2);
    const Storage expected(filled(scattered.cache_rows(), 300, 7), bound.dtype, 0);
    const Storage actual(filled(scattered.cache_rows(), 300, 7), bound.dtype, 0);
    cpu::write_to_pages(on_cpu, x.view(), expected.view(), tokens);
    cuda::write_to_pages(on_gpu, x.view(), actual.view(), tokens);
    CHECK((actual.bytes() == expected.bytes()));
  }
}

TEST_CASE("bounds of cuDNN are the mask", "[attention]") {
  for (const AttentionMask& mask : masks())
    for (std::int64_t tokens = 1; tokens < 60; ++tokens) {
      CAPTURE(mask.before, mask.after, mask.prefix, tokens);
      const auto band = cuda::band_of(mask, tokens);
      if (!band) {
        CHECK(mask.prefix > mask.after + 1);
        continue;
      }
      bool same = true;
      for (std::int64_t i = 0; i < tokens; ++i)
        for (std::int64_t j = 0; j < tokens; ++j) {
          const KeyRange seen = mask.keys(i, {0, tokens});
          const bool in_band = (!band->left || j + *band->left > i) && (!band->right || j <= i + *band->right);
          same = same && in_band == (j >= seen.first && j < seen.end);
        }
      CHECK(same);
    }
  CHECK(cuda::band_of({9, 0, 0}, 64) == cuda::AttentionBand{10, 0});
  CHECK(cuda::band_of({unlimited, unlimited, 0}, 64) == cuda::AttentionBand{});
}

TEST_CASE("parts of attention have the bits of the whole", "[attention]") {
  const Problem problem{DType::fp32, shape_of(3, 20, 4, 2, 8), {}, documents_of(shape_of(3, 20, 4, 2, 8)), {}};
  Call whole(problem), parts(problem);
  whole.run_on_gpu();
  const View o = parts.out.view(), l = parts.lse.view(), d = parts.dout.view();
  const cuda::AttentionCall all{
      parts.q(parts.qkv),  parts.k(parts.qkv),  parts.v(parts.qkv),  o,           l,          d,
      parts.q(parts.dqkv), parts.k(parts.dqkv), parts.v(parts.dqkv), parts.shape, parts.mask, parts.starts()};
  for (std::int64_t sample = 0; sample < 3; ++sample)
    for (std::int64_t head = 0; head < 2; ++head) {
      const cuda::AttentionCall part = cuda::heads_of(cuda::samples_of(all, sample, 1), head, 1);
      cuda::plain_attention(on_gpu, part);
      cuda::plain_attention_backward(on_gpu, part);
    }
  CHECK((parts.out.bytes() == whole.out.bytes()));
  CHECK((parts.lse.bytes() == whole.lse.bytes()));
  CHECK((parts.dqkv.bytes() == whole.dqkv.bytes()));
}

}  // namespace monomorph::emulator
