#include <cmath>
#include <monomorph/runtime/kernels/embedding.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace embedding_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Case {
  std::int64_t batch, tokens, features, vocabulary, context, first_position;
};
constexpr Case cases[] = {{1, 1, 1, 1, 1, 0}, {3, 5, 65, 7, 9, 2}, {2, 100, 600, 30, 100, 0}, {40, 3, 130, 50, 4, 1}};

std::vector<std::int32_t> ids_of(const Case& c) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < c.batch * c.tokens; ++i) ids.push_back(static_cast<std::int32_t>(i * i % c.vocabulary));
  return ids;
}
Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
}  // namespace

TEST_CASE("embedding is LibTorch's", "[embedding]") {
  for (const Case& c : cases) {
    for (const bool has_positions : {false, true}) {
      CAPTURE(c.batch, c.tokens, c.features, has_positions);
      const std::int64_t rows = c.batch * c.tokens;
      const auto ids = ids_of(c);
      const Matrix table = random_matrix(c.vocabulary, c.features, 1), dy = random_matrix(rows, c.features, 3);
      const Matrix positions = has_positions ? random_matrix(c.context, c.features, 2) : Matrix{};
      const oracle::Result expected = oracle::embedding(ids, table, positions, c.tokens, c.first_position, dy);
      check({{{table}, {positions}}, {{{rows, c.features, expected.y}}}, [&](const auto& in, const auto& out) {
               cpu::embedding(cpu::Queue{}, ids.data(), in[0], in[1], c.tokens, c.first_position, out[0]);
             }});
    }
  }
}

TEST_CASE("the gradients of embeddings are those of autograd", "[embedding]") {
  for (const Case& c : cases) {
    for (const bool accumulate : {false, true}) {
      CAPTURE(c.batch, c.tokens, c.features, accumulate);
      const std::int64_t rows = c.batch * c.tokens;
      const auto ids = ids_of(c);
      const Matrix table = random_matrix(c.vocabulary, c.features, 1),
                   positions = random_matrix(c.tokens, c.features, 2);
      const Matrix dy = random_matrix(rows, c.features, 3);
      const oracle::Result expected = oracle::embedding(ids, table, positions, c.tokens, 0, dy);
      const Values dtable0 = accumulate ? table.values : Values{},
                   dpositions0 = accumulate ? positions.values : Values{};
      const auto after = [&](const Values& gradient, const Values& before) {
        return accumulate ? sum(gradient, before) : gradient;
      };
      check({{{dy}},
             {{{c.vocabulary, c.features, after(expected.gradients[0], dtable0)}, Role::gradient, dtable0},
              {{c.tokens, c.features, after(expected.gradients[1], dpositions0)}, Role::gradient, dpositions0}},
             [&](const auto& in, const auto& out) {
               cpu::embedding_backward(cpu::Queue{}, ids.data(), in[0], out[0], accumulate);
               cpu::position_embedding_backward(cpu::Queue{}, in[0], c.tokens, out[1], accumulate);
             }});
    }
  }
}

TEST_CASE("embedded tokens may be multiplied, and positions stay as they are", "[embedding]") {
  constexpr double scale = 2.5;  // of so few bits that no dtype rounds it
  for (const Case& c : cases) {
    CAPTURE(c.batch, c.tokens, c.features);
    const std::int64_t rows = c.batch * c.tokens;
    const auto ids = ids_of(c);
    const Matrix table = random_matrix(c.vocabulary, c.features, 1), dy = random_matrix(rows, c.features, 3),
                 positions = random_matrix(c.context, c.features, 2);
    const auto scaled = [](Values values) {
      for (double& value : values) value *= scale;
      return values;
    };
    const oracle::Result expected = oracle::embedding(ids, {table.rows, table.cols, scaled(table.values)}, positions,
                                                      c.tokens, c.first_position, dy);
    check({{{table}, {positions}}, {{{rows, c.features, expected.y}}}, [&](const auto& in, const auto& out) {
             cpu::embedding(cpu::Queue{}, ids.data(), in[0], in[1], c.tokens, c.first_position, out[0], nullptr, scale);
           }});
    check({{{dy}},
           {{{c.vocabulary, c.features, scaled(expected.gradients[0])}, Role::gradient}},
           [&](const auto& in, const auto& out) {
             cpu::embedding_backward(cpu::Queue{}, ids.data(), in[0], out[0], false, scale);
           }});
  }
}

TEST_CASE("what multiplies embedded tokens is rounded to their dtype first, as transformers does", "[embedding]") {
  const std::int32_t id = 0;
  const double scale = std::sqrt(1152.0);  // 34 in bf16
  const Storage table(filled(1, 1, 3), DType::bf16), x(filled(1, 1, 0), DType::bf16), dx(filled(1, 1, 1), DType::bf16),
      dtable(filled(1, 1, 0), DType::fp32);
  cpu::embedding(cpu::Queue{}, &id, table.view(), {}, 1, 0, x.view(), nullptr, scale);
  CHECK(x.values()[0] == 102);
  cpu::embedding_backward(cpu::Queue{}, &id, dx.view(), dtable.view(), false, scale);
  CHECK(dtable.values()[0] == 34);
}

TEST_CASE("learned positions count from the begin of the document, forward and backward", "[embedding]") {
  for (const Case& c : cases) {
    for (const bool accumulate : {false, true}) {
      CAPTURE(c.batch, c.tokens, c.features, accumulate);
      const std::int64_t rows = c.batch * c.tokens;
      const auto ids = ids_of(c), starts = growing_documents(rows, c.tokens);
      const Matrix table = random_matrix(c.vocabulary, c.features, 1),
                   positions = random_matrix(c.tokens, c.features, 2), dy = random_matrix(rows, c.features, 3);
      const oracle::Result expected = oracle::embedding(ids, table, positions, c.tokens, 0, dy, starts);
      check({{{table}, {positions}}, {{{rows, c.features, expected.y}}}, [&](const auto& in, const auto& out) {
               cpu::embedding(cpu::Queue{}, ids.data(), in[0], in[1], c.tokens, 0, out[0], starts.data());
             }});
      const Values before = accumulate ? positions.values : Values{};
      const Values after = accumulate ? sum(expected.gradients[1], before) : expected.gradients[1];
      check({{{dy}}, {{{c.tokens, c.features, after}, Role::gradient, before}}, [&](const auto& in, const auto& out) {
               cpu::position_embedding_backward(cpu::Queue{}, in[0], c.tokens, out[0], accumulate, starts.data());
             }});
    }
  }
}

TEST_CASE("the gradient of positions has the same bits if every row is told to be one document", "[embedding]") {
  const std::int64_t tokens = 37, rows = 5 * tokens, features = 70;
  const Storage dx(random_matrix(rows, features, 1), DType::fp32);
  const Matrix before = random_matrix(tokens, features, 2);
  const Storage plain(before, DType::fp32), told(before, DType::fp32);
  const std::vector<std::int32_t> starts(rows, 0);
  cpu::position_embedding_backward(cpu::Queue{}, dx.view(), tokens, plain.view(), true);
  cpu::position_embedding_backward(cpu::Queue{}, dx.view(), tokens, told.view(), true, starts.data());
  CHECK(told.bytes() == plain.bytes());
}

TEST_CASE("positions that no token has get the gradient zero", "[embedding]") {
  const Storage dx(filled(4, 3, 1), DType::fp32), dpositions(filled(5, 3, 9), DType::fp32);
  cpu::position_embedding_backward(cpu::Queue{}, dx.view(), 2, dpositions.view(), false);
  const Values actual = dpositions.values();
  CHECK(Values(actual.begin(), actual.begin() + 6) == Values(6, 2));
  CHECK(Values(actual.begin() + 6, actual.end()) == Values(9, 0));
}

}  // namespace embedding_test
