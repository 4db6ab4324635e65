#include "saved_tensors.hpp"
#include "support/catch.hpp"

#include <monomorph/train/checkpoints/compare.hpp>

#include <cmath>
#include <limits>

using namespace monomorph;
using namespace monomorph::testing;
using namespace monomorph::train;

namespace {

CheckpointComparison compare(const TemporaryFolder& folder, const SavedTensors& left, const SavedTensors& right) {
  runtime::CheckpointReader first(save_tensors(folder / "first", left)), second(save_tensors(folder / "second", right));
  return compare_checkpoints(first, second);
}

}  // namespace

TEST_CASE("tensors of two checkpoints: equal, missing, of another shape or dtype") {
  const TemporaryFolder folder;
  const SavedTensors left{{"equal", fp32_tensor({1, std::nanf("")})},
                          {"gone", fp32_tensor({1})},
                          {"reshaped", fp32_tensor({1, 2, 3, 4})},
                          {"retyped", fp32_tensor({1})}};
  SavedTensors right = left;
  right.erase("gone");
  right["new"] = fp32_tensor({2});
  right["reshaped"].shape = {2, 2};
  right["retyped"].dtype = runtime::FileDType::i32;
  const CheckpointComparison found = compare(folder, left, right);
  CHECK(found.only_in_first == std::vector<std::string>{"gone"});
  CHECK(found.only_in_second == std::vector<std::string>{"new"});
  CHECK(found.differently_shaped == std::vector<std::string>{"reshaped", "retyped"});
  CHECK(found.different.empty());
  CHECK(found.n_equal == 1);
  CHECK_FALSE(found.equal());
  CHECK(compare(folder, left, left).equal());
}

TEST_CASE("how much tensors differ: the largest differences, and where") {
  const TemporaryFolder folder;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const auto difference = [&](const std::vector<float>& left, const std::vector<float>& right) {
    const CheckpointComparison found = compare(folder, {{"w", fp32_tensor(left)}}, {{"w", fp32_tensor(right)}});
    REQUIRE(found.different.size() == 1);
    return found.different.front();
  };
  const TensorDifference usual = difference({1, 100, 0.5F, 7}, {1, 101, 0.25F, 7});
  CHECK(usual.n_elements == 2);
  CHECK(usual.largest_absolute == 1);
  CHECK(usual.place_of_largest == 1);
  CHECK(usual.largest_relative == 0.5);
  const TensorDifference zeros = difference({0.0F}, {-0.0F});
  CHECK(zeros.n_elements == 1);
  CHECK(zeros.largest_absolute == 0);
  CHECK(zeros.largest_relative == 0);
  const TensorDifference with_nan = difference({nan, 1}, {2, 1.5F});
  CHECK(with_nan.n_nan_in_one == 1);
  CHECK(with_nan.largest_absolute == 0.5);
  CHECK(with_nan.place_of_largest == 1);
  for (const float other : {1.0F, -infinity}) {
    const TensorDifference infinite = difference({infinity}, {other});
    CHECK(std::isinf(infinite.largest_absolute));
    CHECK(std::isinf(infinite.largest_relative));
  }
}

TEST_CASE("tensors are compared over many pieces, and in every dtype") {
  const TemporaryFolder folder;
  std::vector<float> left(3'000'001, 1);
  std::vector<float> right = left;
  right[2'999'999] = 3;
  right[5] = 2;
  const auto large = compare(folder, {{"w", fp32_tensor(left)}}, {{"w", fp32_tensor(right)}}).different.at(0);
  CHECK(large.n_elements == 2);
  CHECK(large.place_of_largest == 2'999'999);
  CHECK(large.largest_absolute == 2);
  using enum runtime::FileDType;
  const auto absolute = [&](auto dtype, auto one, auto other) {
    return compare(folder, {{"w", saved_tensor(dtype, std::vector{one})}},
                   {{"w", saved_tensor(dtype, std::vector{other})}})
        .different.at(0)
        .largest_absolute;
  };
  CHECK(absolute(f64, 1.0, 1 + 0x1p-52) == 0x1p-52);
  CHECK(absolute(bf16, std::uint16_t{0x3F80}, std::uint16_t{0x3F81}) == 0x1p-7);
  CHECK(absolute(f16, std::uint16_t{0x3C00}, std::uint16_t{0x3C01}) == 0x1p-10);
  CHECK(absolute(i64, std::int64_t{-5}, std::int64_t{5}) == 10);
  CHECK(absolute(i32, -5, 5) == 10);
  CHECK(absolute(i16, std::int16_t{-5}, std::int16_t{5}) == 10);
  CHECK(absolute(i8, std::int8_t{-5}, std::int8_t{5}) == 10);
  CHECK(absolute(u8, std::uint8_t{5}, std::uint8_t{250}) == 245);
  CHECK(absolute(boolean, std::uint8_t{0}, std::uint8_t{1}) == 1);
}
