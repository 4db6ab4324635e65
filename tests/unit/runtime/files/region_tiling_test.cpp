#include "runtime/files/region_tiling.hpp"

#include "support/catch.hpp"
#include "support/counted_tiling.hpp"

#include <random>

namespace region_tiling_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;

class AnyTiling {
 public:
  explicit AnyTiling(unsigned seed) : random_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  Dims shape() {
    Dims shape = Dims::filled(static_cast<int>(between(1, 4)), 0);
    for (int d = 0; d < shape.size(); ++d) shape[d] = between(1, 6);
    return shape;
  }
  /// Cuts a region in two, both of them again, and what comes out of it into runs.
  void cut(const Region& region, int times, std::vector<RegionRun>& runs) {
    const int d = static_cast<int>(between(0, region.dimensions() - 1));
    if (times == 0 || region.extents[d] < 2) return cut_in_runs(region, runs);
    const std::int64_t at = between(1, region.extents[d] - 1);
    Region low = region, high = region;
    low.extents[d] = at;
    high.offsets[d] += at;
    high.extents[d] -= at;
    cut(low, times - 1, runs);
    cut(high, times - 1, runs);
  }

 private:
  void cut_in_runs(const Region& region, std::vector<RegionRun>& runs) {
    const std::int64_t n = region.elements(), middle = between(0, n);
    runs.push_back({region, middle, n - middle});
    runs.push_back({region, 0, middle});
  }
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("a tiling is told from what is none, and where it fails is where counting finds it") {
  AnyTiling any(3);
  for (int round = 0; round < 2000; ++round) {
    const Dims shape = any.shape();
    std::vector<RegionRun> runs;
    any.cut(Region::whole(shape), static_cast<int>(any.between(0, 3)), runs);
    REQUIRE(first_not_held_once(shape, runs) == std::nullopt);
    RegionRun& changed = runs[static_cast<std::size_t>(any.between(0, std::ssize(runs) - 1))];
    switch (any.between(0, 3)) {
      case 0:  // a hole
        changed.n /= 2;
        break;
      case 1:  // twice
        runs.push_back(changed);
        break;
      case 2:  // as many elements, some of them elsewhere
        changed.first -= changed.first > 0 ? 1 : 0;
        break;
      default:
        runs.push_back({Region::whole(shape)});
    }
    REQUIRE(first_not_held_once(shape, runs) == testing::first_not_counted_once(shape, runs));
  }
}

TEST_CASE("what runs claim to be costs nothing") {
  constexpr std::int64_t rows = std::int64_t{1} << 40, columns = std::int64_t{1} << 20;
  const Dims shape{rows, columns};
  const Region left{{0, 0}, {rows, 1}}, right{{0, 1}, {rows, columns - 1}};
  CHECK_FALSE(first_not_held_once(shape, {{left}, {right}}));
  CHECK_FALSE(first_not_held_once(shape, {{right, 5}, {left}, {right, 0, 5}}));
  CHECK(first_not_held_once(shape, {{right}}) == 0);
  CHECK(first_not_held_once(shape, {{left, 0, rows - 1}, {right}}) == (rows - 1) * columns);
  CHECK(first_not_held_once(shape, {{left}, {right}, {left, 7, 1}}) == 7 * columns);
  CHECK(first_not_held_once(shape, {}) == 0);
  CHECK_FALSE(first_not_held_once({0, 5}, {}));
  CHECK_FALSE(first_not_held_once({1}, {{{{0}, {1}}}}));
}

TEST_CASE(
    "a hundred thousand parts, each beside each other, are compared in far less than a hundred thousand steps each") {
  constexpr std::int64_t n = 100'000;
  std::vector<RegionRun> columns;
  for (std::int64_t i = 0; i < n; ++i) columns.push_back({{{0, i}, {3, 1}}});
  CHECK_FALSE(first_not_held_once({3, n}, columns));
  columns[n / 2].n = 2;
  CHECK(first_not_held_once({3, n}, columns) == 2 * n + n / 2);
}

}  // namespace region_tiling_test
