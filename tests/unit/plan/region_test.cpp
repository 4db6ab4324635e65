#include <monomorph/spec/region_run.hpp>

#include <limits>
#include <map>
#include <random>
#include <vector>
#include "support/catch.hpp"

using namespace monomorph;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

static_assert(Region{{0, 64}, {256, 64}}.fits({256, 128}));
static_assert(Region{{256, 128}, {0, 0}}.fits({256, 128}));
static_assert(!Region{{0, 65}, {256, 64}}.fits({256, 128}));
static_assert(!Region{{0, 64}, {256, largest}}.fits({256, 128}));
static_assert(!Region{{largest, 64}, {256, 64}}.fits({256, 128}));
static_assert(!Region{{0, -1}, {256, 64}}.fits({256, 128}));
static_assert(!Region{{0, 0}, {256, -1}}.fits({256, 128}));
static_assert(!Region{{0}, {256 * 128}}.fits({256, 128}));
static_assert(!Region{{0, 0}, {256}}.fits({256, 128}));
static_assert(!Region{{0, 0}, {1, 1}}.fits({largest, 2}));
static_assert(!Region{{0, 0}, {1, 0}}.fits({1, -1}));

static_assert(RegionRun{{{0, 64}, {256, 64}}, 10, 256 * 64 - 10}.fits({256, 128}));
static_assert(!RegionRun{{{0, 64}, {256, 64}}, 10, 256 * 64 - 9}.fits({256, 128}));
static_assert(!RegionRun{{{0, 64}, {256, 64}}, 10, largest}.fits({256, 128}));
static_assert(!RegionRun{{{0, 64}, {256, 64}}, largest, 1}.fits({256, 128}));
static_assert(!RegionRun{{{0, 64}, {256, 64}}, -1, 1}.fits({256, 128}));

static_assert(!element_count(std::array<std::int64_t, 2>{largest, 2}));
static_assert(!element_count(std::array<std::int64_t, 2>{-1, 2}));
static_assert(element_count(std::array<std::int64_t, 2>{3, 2}) == 6);
static_assert(dims_of(Shape{1, 7}) == Dims{7} && dims_of(Shape{2, 7}) == Dims{2, 7});
static_assert(dims_of(std::array<std::int64_t, 0>{}) == Dims{1});
static_assert(dims_of(std::array<std::int64_t, 5>{1, 2, 3, 4, 5}) == Dims{120});
static_assert(dims_of(std::array<std::int64_t, 4>{2, 3, 4, 5}) == Dims{2, 3, 4, 5});

/// How many pieces two runs share, in a constant expression as the plan would ask.
constexpr int pieces(const RegionRun& left, const RegionRun& right) {
  int n = 0;
  for_each_shared_piece(left, right, [&](std::int64_t, std::int64_t, std::int64_t) { ++n; });
  return n;
}
constexpr RegionRun whole = RegionRun::whole({256, 128});
constexpr RegionRun right_half{{{0, 64}, {256, 64}}};
static_assert(pieces(whole, whole) == 1);
static_assert(pieces({Region::whole({256, 128}), 1000, 5000}, {Region::whole({256, 128}), 3001, 9000}) == 1);
static_assert(pieces({right_half.region, 100, 3000}, right_half) == 1);
static_assert(pieces(right_half, whole) == 256);
static_assert(pieces({{{100, 0}, {30, 128}}}, whole) == 1);
static_assert(pieces(right_half, {{{0, 0}, {256, 64}}}) == 0);
static_assert(pieces({right_half.region, 64, 64}, whole) == 1);
static_assert(pieces({right_half.region, 64, 0}, whole) == 0);

/// By element of the tensor that of the run's region.
std::map<std::int64_t, std::int64_t> by_element(const RegionRun& run, const Region& tensor) {
  std::map<std::int64_t, std::int64_t> elements;
  for (std::int64_t i = run.first; i < run.end(); ++i) elements[tensor.element_at(run.region.place_of(i))] = i;
  return elements;
}

}  // namespace

TEST_CASE("what two runs of regions share is what element by element they share, in rising order") {
  std::mt19937_64 random(7);
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int round = 0; round < 5000; ++round) {
    Dims shape = Dims::filled(static_cast<int>(between(1, 4)), 0);
    for (int d = 0; d < shape.size(); ++d) shape[d] = between(1, 5);
    const Region tensor = Region::whole(shape);
    const auto any_run = [&] {
      Region region = tensor;
      for (int d = 0; d < shape.size(); ++d) {
        region.offsets[d] = between(0, shape[d] - 1);
        region.extents[d] = between(1, shape[d] - region.offsets[d]);
      }
      const std::int64_t first = between(0, region.elements() - 1);
      return RegionRun{region, first, between(0, region.elements() - first)};
    };
    const RegionRun left = any_run(), right = any_run();
    REQUIRE(left.fits(shape));
    std::map<std::int64_t, std::int64_t> shared, expected;
    std::int64_t last = -1;
    bool rises = true;
    for_each_shared_piece(left, right, [&](std::int64_t in_left, std::int64_t in_right, std::int64_t n) {
      rises = rises && in_left > last && n > 0;
      last = in_left + n - 1;
      for (std::int64_t i = 0; i < n; ++i) shared[in_left + i] = in_right + i;
    });
    const auto of_left = by_element(left, tensor), of_right = by_element(right, tensor);
    for (const auto& [element, in_left] : of_left)
      if (const auto in_right = of_right.find(element); in_right != of_right.end())
        expected[in_left] = in_right->second;
    REQUIRE(rises);
    REQUIRE(shared == expected);
  }
}
