#include <cmath>
#include <monomorph/runtime/kernels/rotary.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace rotary_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Case {
  RotarySpec spec;
  std::int64_t head_dim, heads, rows, tokens, first_position;
};
constexpr Llama3RotaryScaling llama31{8, 1, 4, 8192};
const Case cases[] = {{{}, 2, 1, 1, 1, 0},
                      {{}, 64, 3, 15, 5, 0},
                      {{500'000, llama31}, 128, 2, 9, 9, 7},
                      {{10'000, llama31}, 6, 5, 300, 100, 3},
                      {{}, 1030, 1, 20, 10, 0}};

void check_rotation(const Case& c, bool inverse, const std::vector<std::int32_t>& document_starts = {}) {
  const std::int64_t columns = c.heads * c.head_dim, positions = c.first_position + c.tokens;
  const Matrix x = random_matrix(c.rows, columns, 1);
  const double base = c.spec.base;
  const Llama3RotaryScaling& scaling = c.spec.scaling;
  const oracle::Rotation rotation{base,
                                  scaling.factor,
                                  scaling.low_frequency_factor,
                                  scaling.high_frequency_factor,
                                  static_cast<double>(scaling.original_context),
                                  c.head_dim,
                                  c.tokens,
                                  c.first_position,
                                  document_starts};
  const oracle::Result expected = oracle::rotary(rotation, x, x);
  const Matrix y{c.rows, columns, inverse ? expected.gradients[0] : expected.y};
  check({{}, {{y, Role::activation, x.values}}, [&](const auto&, const auto& out) {
           const DType tables = statistics_dtype(out[0].dtype);
           const Storage cos(filled(positions, c.head_dim / 2, 0), tables),
               sin(filled(positions, c.head_dim / 2, 0), tables);
           cpu::rotary_table(cpu::Queue{}, c.spec, cos.view(), sin.view());
           cpu::rotary(cpu::Queue{}, out[0], cos.view(), sin.view(), c.tokens, c.first_position, inverse,
                       document_starts.empty() ? nullptr : document_starts.data());
         }});
}
}  // namespace

TEST_CASE("rotary embedding is Hugging Face's, and its inverse is its gradient", "[rotary]") {
  for (const Case& c : cases) {
    for (const bool inverse : {false, true}) {
      CAPTURE(c.head_dim, c.heads, c.rows, inverse);
      check_rotation(c, inverse);
    }
  }
}

TEST_CASE("rotary positions count from the begin of the document", "[rotary]") {
  for (const Case& c : cases) {
    for (const bool inverse : {false, true}) {
      CAPTURE(c.head_dim, c.heads, c.rows, inverse);
      check_rotation(c, inverse, growing_documents(c.rows, c.tokens));
    }
  }
}

TEST_CASE("rotary tables stay exact at far positions", "[rotary]") {
  const std::int64_t positions = 131'072;
  const Storage cos(shape_only(positions, 2), DType::fp32), sin(shape_only(positions, 2), DType::fp32);
  cpu::rotary_table(cpu::Queue{}, {500'000, {}}, cos.view(), sin.view());
  const Values c = cos.values(), s = sin.values();
  for (const std::int64_t position : {0L, 1L, 4'096L, 131'071L}) {
    const auto at = static_cast<std::size_t>(2 * position);
    const auto angle = static_cast<double>(position);
    CHECK(c[at] == Approx(std::cos(angle)).margin(1e-7));
    CHECK(s[at] == Approx(std::sin(angle)).margin(1e-7));
    CHECK(c[at + 1] == Approx(std::cos(angle / std::sqrt(500'000.0))).margin(1e-7));
  }
}

TEST_CASE("Llama 3.1 scales long wavelengths only", "[rotary]") {
  // By hand: base 10'000 and 4 features give the frequencies 1 and 0.01, wavelengths 6.28 and 628.3.
  const auto slope = [](const Llama3RotaryScaling& scaling, std::size_t i) {
    const Storage cos(shape_only(2, 2), DType::fp64), sin(shape_only(2, 2), DType::fp64);
    cpu::rotary_table(cpu::Queue{}, {10'000, scaling}, cos.view(), sin.view());
    return std::asin(sin.values()[2 + i]);
  };
  CHECK(slope({8, 1, 4, 400}, 0) == Approx(1));         // 6.28 < 400 / 4
  CHECK(slope({8, 1, 4, 400}, 1) == Approx(0.01 / 8));  // 628 > 400 / 1
  const double kept = (1000 / (200 * 3.14159265358979) - 1) / 3;
  CHECK(slope({8, 1, 4, 1000}, 1) == Approx(0.01 * ((1 - kept) / 8 + kept)));  // 250 < 628 < 1000
}

TEST_CASE("the attention factor of YaRN is in the tables", "[rotary]") {
  const RotarySpec rotary{.yarn = {.factor = 4, .original_context = 4096, .attention_factor = 0.75}};
  const Storage cos(shape_only(5, 4), DType::fp64), sin(shape_only(5, 4), DType::fp64);
  cpu::rotary_table(cpu::Queue{}, rotary, cos.view(), sin.view());
  const Values c = cos.values(), s = sin.values();
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] * c[i] + s[i] * s[i] == Approx(0.75 * 0.75));
}

TEST_CASE("turning back by tables with a factor is the adjoint of turning", "[rotary]") {
  const RotarySpec rotary{.yarn = {.factor = 4, .original_context = 4096}};
  const Storage cos(shape_only(7, 4), DType::fp64), sin(shape_only(7, 4), DType::fp64);
  cpu::rotary_table(cpu::Queue{}, rotary, cos.view(), sin.view());
  const auto turned = [&](const Matrix& x, bool inverse) {
    const Storage y(x, DType::fp64);
    cpu::rotary(cpu::Queue{}, y.view(), cos.view(), sin.view(), 7, 0, inverse);
    return y.values();
  };
  const Matrix x = random_matrix(7, 16, 1), dy = random_matrix(7, 16, 2);
  const auto product = [](const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  CHECK(product(turned(x, false), dy.values) == Approx(product(x.values, turned(dy, true))));
}

}  // namespace rotary_test
