#include <c10/util/Half.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <monomorph/runtime/kernels/attention.hpp>
#include <random>
#include <string>
#include <utility>
#include "attention_oracle.hpp"
#include "runtime/machine/isa.hpp"
#include "support/catch.hpp"
#include "support/scattered_pages.hpp"

extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads(void);
}

namespace attention_test {

using namespace monomorph;

namespace {

/// A matrix with its own memory, filled with a value that no test expects.
struct Matrix {
  DType dtype;
  Shape shape;
  std::vector<std::byte> bytes;
  Matrix(DType type, std::int64_t rows, std::int64_t cols)
      : dtype(type), shape{rows, cols}, bytes(static_cast<std::size_t>(rows * cols * size_of(type)), std::byte{0x5A}) {}
  View view() { return {bytes.data(), dtype, shape}; }
};

double read(const View& x, std::int64_t row, std::int64_t column) {
  const std::int64_t i = row * x.stride + column;
  if (x.dtype == DType::fp64) return x.as<double>()[i];
  if (x.dtype == DType::fp32) return x.as<float>()[i];
  if (x.dtype == DType::fp16) return static_cast<float>(x.as<c10::Half>()[i]);
  const std::uint32_t bits = static_cast<std::uint32_t>(x.as<std::uint16_t>()[i]) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
/// bf16 by truncation: what is read back is what counts.
void write(const View& x, std::int64_t row, std::int64_t column, double value) {
  const std::int64_t i = row * x.stride + column;
  const float single = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (x.dtype == DType::fp64)
    x.as<double>()[i] = value;
  else if (x.dtype == DType::fp32)
    x.as<float>()[i] = single;
  else if (x.dtype == DType::fp16)
    x.as<c10::Half>()[i] = static_cast<c10::Half>(single);
  else
    x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(bits >> 16);
}
void copy_row(const View& to, std::int64_t to_row, const View& from, std::int64_t from_row) {
  std::memcpy(to.rows(to_row, 1).data, from.rows(from_row, 1).data, static_cast<std::size_t>(from.rows(0, 1).bytes()));
}
std::vector<double> values(const View& x) {
  std::vector<double> result;
  for (std::int64_t row = 0; row < x.shape.rows; ++row)
    for (std::int64_t column = 0; column < x.shape.cols; ++column) result.push_back(read(x, row, column));
  return result;
}
void fill_normal(const View& x, std::mt19937& generator, double deviation) {
  std::normal_distribution<double> normal(0, deviation);
  for (std::int64_t row = 0; row < x.shape.rows; ++row)
    for (std::int64_t column = 0; column < x.shape.cols; ++column) write(x, row, column, normal(generator));
}

/// Inputs and results of one call; q, k and v are slices of one buffer with other columns beside them, and so are the
/// gradients.
struct Problem {
  AttentionShape shape;
  Matrix qkv, out, lse, dout, dqkv;
  std::vector<std::int32_t> document_starts;  ///< none if empty
  AttentionMask mask;
  oracle::Sees sees = oracle::sees_causally;  ///< the same, as the oracle asks
  static constexpr std::int64_t spare_columns = 3;

  Problem(DType dtype, const AttentionShape& s, double deviation = 1)
      : shape(s),
        qkv(dtype, s.batch * s.tokens, (s.heads + 2 * s.kv_heads) * s.head_dim + spare_columns),
        out(dtype, s.batch * s.tokens, s.heads * s.head_dim),
        lse(statistics_dtype(dtype), s.batch * s.heads, s.tokens),
        dout(dtype, s.batch * s.tokens, s.heads * s.head_dim),
        dqkv(dtype, s.batch * s.tokens, qkv.shape.cols) {
    std::mt19937 generator(7);
    fill_normal(qkv.view(), generator, deviation);
    fill_normal(dout.view(), generator, 1);
  }
  View q_of(Matrix& x) { return x.view().columns(0, shape.heads * shape.head_dim); }
  View k_of(Matrix& x) { return x.view().columns(shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim); }
  View v_of(Matrix& x) {
    return x.view().columns((shape.heads + shape.kv_heads) * shape.head_dim, shape.kv_heads * shape.head_dim);
  }
  const std::int32_t* documents() const { return document_starts.empty() ? nullptr : document_starts.data(); }
  void run() {
    cpu::tiled_attention(cpu::Queue{}, q_of(qkv), k_of(qkv), v_of(qkv), out.view(), lse.view(), shape, mask,
                         documents());
    cpu::tiled_attention_backward(cpu::Queue{}, q_of(qkv), k_of(qkv), v_of(qkv), out.view(), lse.view(), dout.view(),
                                  q_of(dqkv), k_of(dqkv), v_of(dqkv), shape, mask, documents());
  }
  void run_reference(const DropoutKey& key) {
    cpu::reference_attention(cpu::Queue{}, q_of(qkv), k_of(qkv), v_of(qkv), out.view(), lse.view(), shape, mask, key,
                             documents());
    cpu::reference_attention_backward(cpu::Queue{}, q_of(qkv), k_of(qkv), v_of(qkv), out.view(), lse.view(),
                                      dout.view(), q_of(dqkv), k_of(dqkv), v_of(dqkv), shape, mask, key, documents());
  }
  oracle::AttentionResult expected(std::vector<double> dropout = {}) {
    return oracle::attention({shape.batch,
                              shape.tokens,
                              shape.heads,
                              shape.kv_heads,
                              shape.head_dim,
                              shape.scale,
                              values(q_of(qkv)),
                              values(k_of(qkv)),
                              values(v_of(qkv)),
                              values(dout.view()),
                              std::move(dropout),
                              {document_starts.begin(), document_starts.end()},
                              sees,
                              shape.cap});
  }
};

AttentionShape shape_of(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads,
                        std::int64_t head_dim) {
  return {batch, tokens, heads, kv_heads, head_dim, 1 / std::sqrt(static_cast<double>(head_dim))};
}
std::string text(const AttentionShape& s) {
  return "B " + std::to_string(s.batch) + ", T " + std::to_string(s.tokens) + ", N " + std::to_string(s.heads) +
         ", KV " + std::to_string(s.kv_heads) + ", H " + std::to_string(s.head_dim);
}

/// The largest difference, relative to the largest expected value; NaN or infinity if there is any.
double distance(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  double largest = 1e-300, difference = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!std::isfinite(actual[i])) return actual[i];
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(actual[i] - expected[i]));
  }
  return difference / largest;
}
void check_results(Problem& problem, const oracle::AttentionResult& expected, double tolerance) {
  CHECK(distance(values(problem.out.view()), expected.out) < tolerance);
  CHECK(distance(values(problem.lse.view()), expected.lse) < tolerance);
  // One scale for all three gradients: with a single key, dq and dk are zero but for rounding.
  auto actual = values(problem.q_of(problem.dqkv)), gradient = expected.dq;
  for (auto&& [view, part] :
       {std::pair{problem.k_of(problem.dqkv), &expected.dk}, {problem.v_of(problem.dqkv), &expected.dv}}) {
    const auto more = values(view);
    actual.insert(actual.end(), more.begin(), more.end());
    gradient.insert(gradient.end(), part->begin(), part->end());
  }
  CHECK(distance(actual, gradient) < tolerance);
  const View spare =
      problem.dqkv.view().columns(problem.dqkv.shape.cols - Problem::spare_columns, Problem::spare_columns);
  const std::vector<double> untouched(static_cast<std::size_t>(spare.elements()), read(spare, 0, 0));
  CHECK(values(spare) == untouched);
}

/// Calls f under each instruction set that the processor has.
template <class F> void for_each_isa(F&& f) {
  const detail::Isa before = detail::active_isa();
  for (const auto& [isa, name] :
       {std::pair{detail::Isa::generic, "generic"}, {detail::Isa::avx2, "avx2"}, {detail::Isa::avx512, "avx512"}}) {
    if (!detail::processor_has(isa)) continue;
    INFO(name);
    detail::use_isa(isa);
    f();
  }
  detail::use_isa(before);
}

std::vector<AttentionShape> shapes() {
  return {shape_of(1, 1, 1, 1, 1),    shape_of(2, 5, 2, 2, 3),   shape_of(3, 1, 4, 2, 8),
          shape_of(2, 33, 4, 2, 7),   shape_of(1, 70, 3, 1, 32), shape_of(2, 129, 4, 4, 20),
          shape_of(1, 97, 6, 2, 64),  shape_of(1, 64, 2, 2, 80), shape_of(1, 200, 4, 1, 96),
          shape_of(1, 65, 2, 1, 256), shape_of(1, 150, 2, 2, 1), shape_of(1, 191, 2, 1, 128)};
}

DropoutKey no_dropout(const AttentionShape& shape) {
  DropoutKey key;
  key.tokens_per_sample = shape.tokens;
  return key;
}

/// Sequences cut into documents: where those of each begin, apart from 0; sequences take turns.
struct Documents {
  const char* name;
  std::vector<std::vector<std::int64_t>> cuts;
  std::vector<std::int32_t> starts(const AttentionShape& shape) const {
    std::vector<std::int32_t> result;
    for (std::int64_t sample = 0; sample < shape.batch; ++sample) {
      const auto& cut = cuts[static_cast<std::size_t>(sample) % cuts.size()];
      std::int32_t start = 0;
      for (std::int64_t t = 0; t < shape.tokens; ++t) {
        if (std::find(cut.begin(), cut.end(), t) != cut.end()) start = static_cast<std::int32_t>(t);
        result.push_back(start);
      }
    }
    return result;
  }
};
std::vector<std::int64_t> every(std::int64_t n) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t t = n; t < 512; t += n) cuts.push_back(t);
  return cuts;
}
/// Blocks have 96 tokens (48 in fp64), groups of rows 6 or 8, vectors 2 to 16: cuts at their edges and beside them.
std::vector<Documents> documents() {
  return {{"one each", {{}}},
          {"of one token", {every(1)}},
          {"at edges of blocks", {{48, 96, 144, 192}, {96, 192}}},
          {"beside edges", {{47, 97}, {1, 49, 95, 191}}},
          {"at edges of groups and vectors", {{6, 8, 12, 16, 18, 24, 32, 64}, {96 + 6, 96 + 8, 96 + 16}}},
          {"of several lengths", {{3, 5, 40, 41, 42, 100, 170}, {63, 130, 131}, {10}}},
          {"of three tokens", {every(3)}},
          {"the last token alone", {{32, 64, 69, 96, 128, 149, 190, 199}}}};
}

}  // namespace

TEST_CASE("causal attention and its gradients equal autograd's") {
  for (const AttentionShape& shape : shapes())
    for (const auto& [dtype, tolerance] :
         {std::pair{DType::fp64, 1e-11}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}}) {
      INFO(text(shape) << ", " << std::string(name_of(dtype)));
      const auto expected = Problem(dtype, shape).expected();
      for_each_isa([&, type = dtype, bound = tolerance] {
        Problem problem(type, shape);
        problem.run();
        check_results(problem, expected, bound);
      });
    }
}

TEST_CASE("attention whose scores have a soft cap, and its gradients, equal autograd's") {
  for (AttentionShape shape : shapes())
    for (const double cap : {0.4, 50.0})
      for (const auto& [dtype, tolerance] :
           {std::pair{DType::fp64, 1e-11}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}}) {
        INFO(text(shape) << ", " << std::string(name_of(dtype)) << ", cap " << cap);
        shape.cap = cap;
        const auto expected = Problem(dtype, shape).expected();
        Problem reference(dtype, shape);
        reference.run_reference(no_dropout(shape));
        check_results(reference, expected, tolerance);
        for_each_isa([&, type = dtype, bound = tolerance] {
          Problem problem(type, shape);
          problem.run();
          check_results(problem, expected, bound);
        });
      }
}

TEST_CASE("causal attention takes any positive scale") {
  for (const double scale : {1e-9, 0.05, 1.0, 7.0}) {
    AttentionShape shape = shape_of(1, 77, 2, 1, 16);
    shape.scale = scale;
    INFO(scale);
    Problem problem(DType::fp64, shape);
    problem.run();
    check_results(problem, problem.expected(), 1e-11);
  }
}

TEST_CASE("the bits of attention do not depend on the number of threads") {
  const int threads_before = omp_get_max_threads();
  for (const AttentionShape& shape :
       {shape_of(1, 200, 4, 2, 32), shape_of(2, 130, 3, 3, 20), shape_of(1, 333, 2, 1, 64)})
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
      for (const bool has_documents : {false, true})
        for_each_isa([&] {
          INFO(text(shape) << ", " << std::string(name_of(dtype)));
          const auto starts =
              has_documents ? Documents{"", {{3, 50, 100, 180}, {97}}}.starts(shape) : std::vector<std::int32_t>();
          omp_set_num_threads(1);
          Problem alone(dtype, shape);
          alone.document_starts = starts;
          alone.run();
          for (const int threads : {2, 3, 7}) {
            omp_set_num_threads(threads);
            Problem shared(dtype, shape);
            shared.document_starts = starts;
            shared.run();
            CHECK(shared.out.bytes == alone.out.bytes);
            CHECK(shared.lse.bytes == alone.lse.bytes);
            CHECK(shared.dqkv.bytes == alone.dqkv.bytes);
          }
        });
  omp_set_num_threads(threads_before);
}

TEST_CASE("attention within documents and its gradients equal autograd's") {
  for (const AttentionShape& shape :
       {shape_of(2, 5, 2, 2, 3), shape_of(2, 70, 2, 1, 7), shape_of(1, 97, 2, 2, 64), shape_of(3, 200, 2, 1, 16)})
    for (const Documents& cut : documents())
      for (const auto& [dtype, tolerance] :
           {std::pair{DType::fp64, 1e-11}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}}) {
        INFO(text(shape) << ", documents " << cut.name << ", " << std::string(name_of(dtype)));
        Problem reference(dtype, shape);
        reference.document_starts = cut.starts(shape);
        const auto expected = reference.expected();
        if (dtype == DType::fp64) {
          reference.run_reference(no_dropout(shape));
          check_results(reference, expected, tolerance);
        }
        for_each_isa([&, type = dtype, bound = tolerance] {
          Problem problem(type, shape);
          problem.document_starts = cut.starts(shape);
          problem.run();
          check_results(problem, expected, bound);
        });
      }
}

TEST_CASE("rows of one document each have the bits of plain causal attention") {
  for (const AttentionShape& shape : {shape_of(2, 33, 4, 2, 7), shape_of(2, 200, 4, 2, 32), shape_of(1, 97, 6, 2, 64)})
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
      for_each_isa([&] {
        INFO(text(shape) << ", " << std::string(name_of(dtype)));
        Problem plain(dtype, shape), told(dtype, shape);
        told.document_starts.assign(static_cast<std::size_t>(shape.batch * shape.tokens), 0);
        plain.run();
        told.run();
        CHECK(told.out.bytes == plain.out.bytes);
        CHECK(told.lse.bytes == plain.lse.bytes);
        CHECK(told.dqkv.bytes == plain.dqkv.bytes);
      });
}

TEST_CASE("what one document has does not reach another, be it ever so large") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for_each_isa([&] {
      const AttentionShape shape = shape_of(1, 130, 2, 1, 24);
      const std::int64_t begin = 50, end = 101;  // of the document in the middle
      Problem before(dtype, shape), after(dtype, shape);
      before.document_starts = after.document_starts = Documents{"", {{begin, end}}}.starts(shape);
      for (std::int64_t t = begin; t < end; ++t)
        for (std::int64_t column = 0; column < after.qkv.shape.cols; ++column)
          write(after.qkv.view(), t, column, 1e4 * read(after.qkv.view(), t, column));
      before.run();
      after.run();
      for (const auto& [first, n] : {std::pair{std::int64_t{0}, begin}, {end, shape.tokens - end}}) {
        CHECK(values(after.out.view().rows(first, n)) == values(before.out.view().rows(first, n)));
        CHECK(values(after.q_of(after.dqkv).rows(first, n)) == values(before.q_of(before.dqkv).rows(first, n)));
        CHECK(values(after.k_of(after.dqkv).rows(first, n)) == values(before.k_of(before.dqkv).rows(first, n)));
        CHECK(values(after.v_of(after.dqkv).rows(first, n)) == values(before.v_of(before.dqkv).rows(first, n)));
      }
    });
}

TEST_CASE("attention of large scores neither overflows nor loses the largest") {
  for_each_isa([] {
    Problem problem(DType::fp32, shape_of(1, 100, 2, 2, 16), 100);  // scores of ± 1e4 and more
    problem.run();
    check_results(problem, problem.expected(), 2e-2);
  });
}

TEST_CASE("a NaN or an infinity that attention is given comes out as NaN") {
  constexpr std::int64_t tokens = 90, features = 16, at = 70;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
      for_each_isa([&] {
        Problem problem(dtype, shape_of(1, tokens, 2, 2, features));
        write(problem.q_of(problem.qkv), at, 0, bad);
        problem.run();
        CHECK(std::isnan(read(problem.out.view(), at, 0)));
        CHECK(std::isnan(read(problem.q_of(problem.dqkv), at, 0)));
        CHECK(std::isnan(read(problem.k_of(problem.dqkv), 0, 0)));
        CHECK(std::isfinite(read(problem.out.view(), at - 1, 0)));
        CHECK(std::isfinite(read(problem.out.view(), at, features)));  // another head
        Problem value(dtype, shape_of(1, tokens, 2, 2, features));
        write(value.v_of(value.qkv), at, 0, bad);
        value.run();
        CHECK_FALSE(std::isfinite(read(value.out.view(), tokens - 1, 0)));
      });
}

TEST_CASE("the reference attention without dropout equals autograd's") {
  for (const AttentionShape& shape : shapes())
    for (const auto& [dtype, tolerance] :
         {std::pair{DType::fp64, 1e-11}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}}) {
      INFO(text(shape) << ", " << std::string(name_of(dtype)));
      Problem problem(dtype, shape);
      problem.run_reference(no_dropout(shape));
      check_results(problem, problem.expected(), tolerance);
    }
}

namespace {

/// A mask, and what it means in other words: a question that is asked for each pair of a query and a key.
struct Mask {
  std::string name;
  AttentionMask mask;
  oracle::Sees sees;
  void apply_to(Problem& problem) const {
    problem.mask = mask;
    problem.sees = sees;
  }
};
constexpr std::int64_t unlimited = AttentionMask::unlimited;

/// Windows and prefixes of one token, at the edges of groups of rows, vectors and blocks and beside them, and longer
/// than the row.
std::vector<Mask> masks() {
  std::vector<Mask> result{{"bidirectional", {.after = unlimited}, [](auto, auto) { return true; }},
                           {"window of both sides and prefix",
                            {.before = 10, .after = 60, .prefix = 90},
                            [](auto query, auto key) { return key >= query - 10 && (key <= query + 60 || key < 90); }}};
  for (const std::int64_t n : {1, 2, 7, 16, 48, 49, 95, 96, 97, 190, 1000}) {
    result.push_back({"window of " + std::to_string(n), {.before = n - 1}, [n](auto query, auto key) {
                        return key <= query && query - key < n;
                      }});
    result.push_back({"prefix of " + std::to_string(n), {.prefix = n}, [n](auto query, auto key) {
                        return key <= query || key < n;
                      }});
    result.push_back({std::to_string(n) + " neighbours", {.before = n, .after = n}, [n](auto query, auto key) {
                        return std::abs(query - key) <= n;
                      }});
  }
  return result;
}

}  // namespace

TEST_CASE("attention under any mask, within documents or not, and its gradients equal autograd's") {
  for (const AttentionShape& shape : {shape_of(2, 5, 2, 2, 3), shape_of(1, 97, 2, 1, 64), shape_of(2, 200, 2, 1, 7)})
    for (const Mask& mask : masks())
      for (const Documents& cut : {Documents{"none", {}}, documents()[3], documents()[5], documents()[6]})
        for (const auto& [dtype, tolerance] :
             {std::pair{DType::fp64, 1e-11}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}}) {
          INFO(text(shape) << ", " << mask.name << ", documents " << cut.name << ", " << std::string(name_of(dtype)));
          Problem problem(dtype, shape);
          mask.apply_to(problem);
          if (!cut.cuts.empty()) problem.document_starts = cut.starts(shape);
          const auto expected = problem.expected();
          if (dtype == DType::fp64) {
            problem.run_reference(no_dropout(shape));
            check_results(problem, expected, tolerance);
          }
          for_each_isa([&, bound = tolerance] {
            for (Matrix* result : {&problem.out, &problem.lse, &problem.dqkv})
              std::fill(result->bytes.begin(), result->bytes.end(), std::byte{0x5A});
            problem.run();
            check_results(problem, expected, bound);
          });
        }
}

TEST_CASE("a soft cap of scores goes with masks and documents, and its bits with any number of threads") {
  const int threads_before = omp_get_max_threads();
  AttentionShape shape = shape_of(2, 200, 4, 2, 20);
  shape.cap = 0.7;
  for (const Mask& mask : masks())
    for (const Documents& cut : {Documents{"none", {}}, documents()[5]})
      for (const auto& [dtype, tolerance] : {std::pair{DType::fp64, 1e-11}, {DType::bf16, 1.2e-2}}) {
        INFO(mask.name << ", documents " << cut.name << ", " << std::string(name_of(dtype)));
        const auto made = [&, type = dtype](int threads) {
          Problem problem(type, shape);
          mask.apply_to(problem);
          if (!cut.cuts.empty()) problem.document_starts = cut.starts(shape);
          omp_set_num_threads(threads);
          problem.run();
          return problem;
        };
        Problem alone = made(1);
        check_results(alone, alone.expected(), tolerance);
        const Problem shared = made(7);
        CHECK(shared.out.bytes == alone.out.bytes);
        CHECK(shared.dqkv.bytes == alone.dqkv.bytes);
      }
  omp_set_num_threads(threads_before);
}

TEST_CASE("a window as long as the row, or longer, has the bits of causal attention") {
  for (const AttentionShape& shape : {shape_of(2, 33, 4, 2, 7), shape_of(2, 200, 4, 2, 32)})
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
      for (const std::int64_t window : {shape.tokens, shape.tokens + 1, std::int64_t{1000}})
        for_each_isa([&] {
          Problem causal(dtype, shape), windowed(dtype, shape);
          windowed.mask = {.before = window - 1};
          causal.run();
          windowed.run();
          CHECK(windowed.out.bytes == causal.out.bytes);
          CHECK(windowed.lse.bytes == causal.lse.bytes);
          CHECK(windowed.dqkv.bytes == causal.dqkv.bytes);
        });
}

TEST_CASE("the bits of attention under a mask do not depend on the number of threads") {
  const int threads_before = omp_get_max_threads();
  const AttentionShape shape = shape_of(2, 333, 4, 2, 20);
  for (const Mask& mask : masks())
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      INFO(mask.name << ", " << std::string(name_of(dtype)));
      omp_set_num_threads(1);
      Problem alone(dtype, shape);
      mask.apply_to(alone);
      alone.run();
      for (const int threads : {2, 7}) {
        omp_set_num_threads(threads);
        Problem shared(dtype, shape);
        mask.apply_to(shared);
        shared.run();
        CHECK(shared.out.bytes == alone.out.bytes);
        CHECK(shared.lse.bytes == alone.lse.bytes);
        CHECK(shared.dqkv.bytes == alone.dqkv.bytes);
      }
    }
  omp_set_num_threads(threads_before);
}

// NaN times a probability of 0 is NaN: a tile of keys must not be multiplied where no query of a tile sees it.
TEST_CASE("tiles of keys that no query sees are not computed with") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for_each_isa([&] {
      const AttentionShape shape = shape_of(1, 400, 2, 1, 16);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      Problem window(dtype, shape), prefix(dtype, shape);
      window.mask = {.before = 19};
      prefix.mask = {.prefix = 90};
      for (std::int64_t i = 0; i < shape.head_dim; ++i) {
        write(window.k_of(window.qkv), 0, i, nan);
        write(window.v_of(window.qkv), 0, i, nan);
        write(prefix.k_of(prefix.qkv), 399, i, nan);
        write(prefix.v_of(prefix.qkv), 399, i, nan);
      }
      window.run();
      prefix.run();
      const auto all_finite = [](const View& view) {
        const std::vector<double> all = values(view);
        return std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
      };
      CHECK(std::isnan(read(window.out.view(), 0, 0)));
      CHECK(all_finite(window.out.view().rows(192, 208)));
      CHECK(all_finite(window.q_of(window.dqkv).rows(192, 208)));
      CHECK(all_finite(window.k_of(window.dqkv).rows(192, 208)));
      CHECK(std::isnan(read(prefix.out.view(), 399, 0)));
      CHECK(all_finite(prefix.out.view().rows(0, 192)));
      CHECK(all_finite(prefix.q_of(prefix.dqkv).rows(0, 192)));
    });
}

namespace {

/// What each probability was multiplied by (B, N, T, T), read off an attention whose values are the unit vectors and
/// whose scores are all equal.
std::vector<double> dropout_factors(const AttentionShape& shape, const DropoutKey& key) {
  const AttentionShape probe = shape_of(shape.batch, shape.tokens, shape.heads, 1, shape.tokens);
  const std::int64_t tokens = shape.tokens;
  Problem problem(DType::fp64, probe, 0);
  for (std::int64_t row = 0; row < probe.batch * tokens; ++row) write(problem.v_of(problem.qkv), row, row % tokens, 1);
  cpu::reference_attention(cpu::Queue{}, problem.q_of(problem.qkv), problem.k_of(problem.qkv),
                           problem.v_of(problem.qkv), problem.out.view(), problem.lse.view(), probe, {}, key);
  std::vector<double> factors;
  for (std::int64_t sample = 0; sample < probe.batch; ++sample)
    for (std::int64_t head = 0; head < probe.heads; ++head)
      for (std::int64_t i = 0; i < tokens; ++i)
        for (std::int64_t j = 0; j < tokens; ++j)
          factors.push_back(read(problem.out.view(), sample * tokens + i, head * tokens + j) *
                            static_cast<double>(i + 1));
  return factors;
}

DropoutKey dropout_key(const AttentionShape& shape, double rate) {
  DropoutKey key = no_dropout(shape);
  key.seed = 0x123456789ABCDEFull;
  key.step = 17;
  key.first_sample = 5;
  key.layer = 3;
  key.site = 2;
  key.rate = rate;
  return key;
}

}  // namespace

TEST_CASE("the reference attention drops the same probabilities forward and backward") {
  for (const AttentionShape& shape : {shape_of(2, 21, 4, 2, 8), shape_of(1, 40, 2, 1, 5)})
    for (const std::int64_t window : {shape.tokens, std::int64_t{6}}) {
      const DropoutKey key = dropout_key(shape, 0.3);
      const auto factors = dropout_factors(shape, key);
      Problem problem(DType::fp64, shape);
      problem.mask = {.before = window - 1};
      problem.sees = [window](auto query, auto token) { return token <= query && query - token < window; };
      problem.run_reference(key);
      check_results(problem, problem.expected(factors), 1e-11);
    }
}

TEST_CASE("the dropout of attention has its rate and depends on every part of its key") {
  const AttentionShape shape = shape_of(2, 64, 3, 1, 1);
  const DropoutKey key = dropout_key(shape, 0.25);
  const auto factors = dropout_factors(shape, key);
  std::int64_t kept = 0, dropped = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto key_position = static_cast<std::int64_t>(i) % shape.tokens;
    if (key_position > static_cast<std::int64_t>(i) / shape.tokens % shape.tokens) continue;
    if (factors[i] == 0)
      ++dropped;
    else if (std::abs(factors[i] - 1 / 0.75) < 1e-12)
      ++kept;
  }
  const std::int64_t pairs = shape.batch * shape.heads * shape.tokens * (shape.tokens + 1) / 2;
  CHECK(kept + dropped == pairs);
  CHECK(std::abs(static_cast<double>(dropped) / static_cast<double>(pairs) - 0.25) < 0.02);  // five deviations

  const auto changed = [&](auto change) {
    DropoutKey other = key;
    change(other);
    return dropout_factors(shape, other) != factors;
  };
  CHECK(changed([](DropoutKey& other) { other.seed += 1ull << 40; }));
  CHECK(changed([](DropoutKey& other) { ++other.step; }));
  CHECK(changed([](DropoutKey& other) { ++other.layer; }));
  CHECK(changed([](DropoutKey& other) { ++other.site; }));
  CHECK_FALSE(changed([](DropoutKey&) {}));

  // A sample's mask is the same wherever the sample stands in a micro-batch.
  DropoutKey second = key;
  ++second.first_sample;
  AttentionShape one = shape;
  one.batch = 1;
  const std::vector<double> second_half(factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2),
                                        factors.end());
  CHECK(dropout_factors(one, second) == second_half);
  CHECK(std::vector<double>(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2)) !=
        second_half);
}

namespace {
void check_pages(double cap) {
  for (AttentionShape shape : {shape_of(3, 1, 2, 2, 16), shape_of(2, 63, 4, 2, 33), shape_of(2, 64, 6, 1, 64),
                               shape_of(1, 200, 4, 4, 128), shape_of(3, 130, 2, 2, 7)})
    for (const auto& [dtype, tolerance] :
         {std::pair{DType::fp64, 1e-12}, {DType::fp32, 1e-5}, {DType::bf16, 1.2e-2}, {DType::fp16, 1.5e-3}})
      for (const std::int64_t window : {std::int64_t{1000}, std::int64_t{1}, std::int64_t{63}, std::int64_t{64}})
        for_each_isa([&, type = dtype, bound = tolerance] {
          shape.cap = cap;
          INFO(text(shape) << ", window " << window << ", " << std::string(name_of(type)));
          Problem problem(type, shape);
          problem.mask = {.before = window - 1};
          problem.run();
          const monomorph::testing::ScatteredPages scattered(shape.batch, shape.tokens);
          const PagedTokens tokens = scattered.tokens();
          const std::int64_t features = shape.heads * shape.head_dim, cached = shape.kv_heads * shape.head_dim;
          Matrix q(type, tokens.tokens, features), out(type, tokens.tokens, features),
              expected(type, tokens.tokens, features);
          Matrix keys(type, scattered.cache_rows(), cached), all_values(type, scattered.cache_rows(), cached);
          Matrix k(type, tokens.tokens, cached), v(type, tokens.tokens, cached);
          const View all_q = problem.q_of(problem.qkv), all_k = problem.k_of(problem.qkv),
                     all_v = problem.v_of(problem.qkv);
          for (std::int64_t token = 0; token < tokens.tokens; ++token) {
            const std::int64_t first = tokens.sequences_B[token] * shape.tokens, row = first + tokens.position(token);
            copy_row(q.view(), token, all_q, row);
            copy_row(expected.view(), token, problem.out.view(), row);
            for (std::int64_t place = 0; place < tokens.position(token); ++place) {
              copy_row(keys.view(), tokens.row(token, place), all_k, first + place);
              copy_row(all_values.view(), tokens.row(token, place), all_v, first + place);
            }
            copy_row(k.view(), token, all_k, row);
            copy_row(v.view(), token, all_v, row);
          }
          cpu::write_to_pages(cpu::Queue{}, k.view(), keys.view(), tokens);
          cpu::write_to_pages(cpu::Queue{}, v.view(), all_values.view(), tokens);
          AttentionShape new_tokens = shape;
          new_tokens.batch = 1, new_tokens.tokens = tokens.tokens;
          cpu::paged_attention(cpu::Queue{}, q.view(), keys.view(), all_values.view(), out.view(), new_tokens,
                               problem.mask, tokens);
          CHECK(distance(values(out.view()), values(expected.view())) < bound);
        });
}
}  // namespace

TEST_CASE("new tokens against pages of a cache get what the full attention gives them") { check_pages(0); }
TEST_CASE("new tokens against pages of a cache get scores with the same soft cap") { check_pages(0.4); }

}  // namespace attention_test
