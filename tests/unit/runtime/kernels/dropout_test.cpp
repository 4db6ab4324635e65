#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace dropout_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

DropoutKey key_of(double rate, std::int64_t tokens = 10) {
  DropoutKey key;
  key.seed = 0x1234'5678'9ABC'DEF0;
  key.step = 7;
  key.first_sample = 0xFFFF'FFFF;  // the second sample needs more than 32 bits
  key.layer = 3;
  key.site = 1;
  key.tokens_per_sample = tokens;
  key.rate = rate;
  return key;
}

Values mask(const DropoutKey& key, std::int64_t rows, std::int64_t features) {
  const Storage x(filled(rows, features, 1), DType::fp64), y(filled(rows, features, 9), DType::fp64);
  cpu::dropout(cpu::Queue{}, x.view(), y.view(), key);
  return y.values();
}
double share_of_zeros(const Values& values) {
  double zeros = 0;
  for (const double value : values) zeros += value == 0;
  return zeros / static_cast<double>(values.size());
}
}  // namespace

TEST_CASE("a mask keeps the expected share, scaled up", "[dropout]") {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Values factors = mask(key_of(rate), 100, 1000);
    CHECK(share_of_zeros(factors) == Approx(rate).margin(0.005));  // three standard deviations
    for (const double factor : factors) CHECK((factor == 0 || factor == 1 / (1 - rate)));
  }
  CHECK(mask(key_of(0), 3, 65) == Values(3 * 65, 1));
}

TEST_CASE("an element of the mask is what Philox gives for its place", "[dropout]") {
  // Worked out from the definition: two hashes make the key, the place is the counter.
  const auto key = key_of(0.5);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto stream = random::philox({static_cast<std::uint32_t>(random::Purpose::dropout), key.layer, key.site, 0},
                                     {low(key.seed), low(key.seed >> 32)});
  const auto stepped = random::philox({low(key.step), low(key.step >> 32), 0, 0}, {stream[0], stream[1]});
  const std::int64_t rows = 20, features = 130;
  const Values factors = mask(key, rows, features);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint64_t sample = key.first_sample + static_cast<std::uint64_t>(row / 10);
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::int64_t within = feature % 64;
      const auto words = random::philox({static_cast<std::uint32_t>(feature / 64 * 16 + within % 16),
                                         static_cast<std::uint32_t>(row % 10), low(sample), low(sample >> 32)},
                                        {stepped[0], stepped[1]});
      const bool dropped = words[static_cast<std::size_t>(within / 16)] < 0x8000'0000u;
      CHECK((factors[static_cast<std::size_t>(row * features + feature)] == 0) == dropped);
    }
  }
}

TEST_CASE("a mask does not depend on how samples are spread over micro-batches", "[dropout]") {
  auto key = key_of(0.3, 5);
  const Values together = mask(key, 15, 70);
  Values apart;
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    key.first_sample = key_of(0.3).first_sample + sample;
    const Values one = mask(key, 5, 70);
    apart.insert(apart.end(), one.begin(), one.end());
  }
  CHECK(together == apart);
}

TEST_CASE("masks of different seeds, steps, layers, sites, samples and positions differ", "[dropout]") {
  const auto with = [](auto change) {
    auto key = key_of(0.5);
    change(key);
    return mask(key, 10, 512);
  };
  std::vector<Values> masks{with([](auto&) {}),
                            with([](auto& key) { key.seed += 1; }),
                            with([](auto& key) { key.seed += std::uint64_t{1} << 32; }),
                            with([](auto& key) { key.step += 1; }),
                            with([](auto& key) { key.layer += 1; }),
                            with([](auto& key) { key.site += 1; }),
                            with([](auto& key) { key.first_sample += 1; })};
  const Values first = masks[0];
  masks[0] = {first.begin() + 512, first.begin() + 1024};  // two positions of one sample
  for (std::size_t i = 0; i < masks.size(); ++i) {
    double equal = 0;
    for (std::size_t j = 0; j < masks[i].size(); ++j) equal += masks[i][j] == first[j];
    CHECK(equal / static_cast<double>(masks[i].size()) == Approx(0.5).margin(0.08));
  }
}

TEST_CASE("dropout multiplies by its mask, in every dtype", "[dropout]") {
  for (const auto& [rows, features] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 65}, {70, 1030}}) {
    CAPTURE(rows, features);
    const Matrix x = random_matrix(rows, features, 1), residual = random_matrix(rows, features, 2);
    const Values factors = mask(key_of(0.25), rows, features);
    Matrix y = x, sum = residual;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      y.values[i] *= factors[i];
      sum.values[i] += y.values[i];
    }
    check({{{x}}, {{y}}, [](const auto& in, const auto& out) {
             cpu::dropout(cpu::Queue{}, in[0], out[0], key_of(0.25));
           }});
    check({{}, {{y, Role::activation, x.values}}, [](const auto&, const auto& out) {
             cpu::dropout(cpu::Queue{}, out[0], out[0], key_of(0.25));
           }});
    check({{{x}}, {{sum, Role::activation, residual.values}}, [](const auto& in, const auto& out) {
             cpu::dropout_add(cpu::Queue{}, in[0], out[0], out[0], key_of(0.25));
           }});
  }
}

}  // namespace dropout_test
