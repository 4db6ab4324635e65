#include <monomorph/train/step/unit_state.hpp>

#include "support/catch.hpp"

#include <vector>

namespace unit_state_test {

namespace {

using namespace monomorph;
using namespace monomorph::train;

constexpr Shape shape{6, 10};

/// First values of a run of a region of a tensor.
std::vector<float> initialized(const RegionRun& run, Initializer initializer) {
  std::vector<float> values(static_cast<std::size_t>(run.n));
  UnitState unit;
  unit.unit = 3;
  unit.master = View(reinterpret_cast<std::byte*>(values.data()), DType::fp32, {1, run.n});
  const TensorInfo info{.name = "weight", .slice = {}, .initializer = initializer};
  unit.tensors.push_back({"weight", info, 2, shape, run.region, {0, {1, run.n}}, run.first});
  initialize(cpu::Queue{}, unit, 17);
  return values;
}

}  // namespace

TEST_CASE("a parameter starts with the same bits in whichever region and run of a tensor it lies") {
  const RegionRun whole = RegionRun::whole(dims_of(shape));
  for (const Initializer initializer : {Initializer{0, 0.5}, Initializer{0, 0.5, 2}, Initializer{0.25}}) {
    const std::vector<float> all = initialized(whole, initializer);
    for (const RegionRun& run : {RegionRun{{{0, 5}, {6, 5}}, 7, 11}, RegionRun{{{2, 0}, {4, 10}}, 3},
                                 RegionRun{{{1, 2}, {3, 7}}}, RegionRun{whole.region, 13, 29}}) {
      std::vector<float> expected;
      for (std::int64_t i = run.first; i < run.end(); ++i)
        expected.push_back(all[static_cast<std::size_t>(whole.region.element_at(run.region.place_of(i)))]);
      CHECK(initialized(run, initializer) == expected);
    }
  }
}

}  // namespace unit_state_test
