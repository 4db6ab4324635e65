// What a step keeps on the host comes and goes while a simulated GPU computes: how long steps would take on streams
// that run side by side.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"

#include <string_view>

namespace monomorph::testing {
namespace {

using simulator::Timeline;

template <class R> struct ActivationsOnHost : R { using checkpointing = checkpointing::Offload<>; };
template <class R> struct StateOnHost : R { using optimizer = optim::HostState<optim::AdamW>; };
using Plain = Small<llama_like, 6>;

/// Of three steps, in kernels: each kernel, product and fill takes one, and a copy what it is told.
template <Recipe R> double time_of_steps(double of_copy) {
  Training<OnGpu<R>> training;
  training.read(training.take_step());
  Simulator::the().finish();
  Timeline timeline([of_copy](std::string_view what) { return what == "copy" ? of_copy : 1; });
  Simulator::the().follow(&timeline);
  const std::int64_t n_waits = Simulator::the().counts().waits;
  for (int i = 0; i < 3; ++i) training.take_step();
  CHECK(Simulator::the().counts().waits == n_waits);  // a timeline knows of no waits of the host
  Simulator::the().finish();
  Simulator::the().follow(nullptr);
  return timeline.end();
}

/// The share of what its copies take by which steps are longer: copies which Plain has, too, those of token ids, are
/// left out.
template <Recipe R> double share_in_sight(double of_copy) {
  constexpr double so_long_that_nothing_else_counts = 1e6;
  const auto longer = [](double copy) { return time_of_steps<R>(copy) - time_of_steps<Plain>(copy); };
  const double copies_in_turn = longer(so_long_that_nothing_else_counts) / so_long_that_nothing_else_counts;
  CHECK(copies_in_turn > 40);
  CHECK(longer(of_copy) >= 0);
  return longer(of_copy) / (copies_in_turn * of_copy);
}
/// In kernels, so that copies take no longer than what computes beside them. A block's activations have many kernels;
/// a unit's state, which takes four copies to come and go, has the one that updates it. Over a bus
/// copies of state take longer than that, and then updates wait for them.
constexpr double of_activations = 2, of_state = 0.25;

}  // namespace

TEST_CASE("activations leave and come back behind the kernels of a GPU") {
  CHECK(share_in_sight<ActivationsOnHost<Plain>>(of_activations) < 0.05);
}
TEST_CASE("the optimiser's state comes and goes behind the kernels of a GPU, but for that of the first unit") {
  CHECK(share_in_sight<StateOnHost<Plain>>(of_state) < 0.2);
}
TEST_CASE("activations, state and parameters on the host hardly hold up a GPU together") {
  CHECK(share_in_sight<KeptOnHost<Plain>>(of_state) < 0.2);
}
TEST_CASE("a timeline has operations of a stream one behind the other, and of two side by side but for waits") {
  CUstream_st first, second;
  Timeline timeline([](std::string_view what) { return what == "long" ? 5 : 1; });
  const auto run = [&](CUstream_st& stream, simulator::Operation operation) {
    operation.stream = &stream;
    ++stream.n_done;
    timeline.add(operation);
  };
  run(first, {.what = "long"});
  run(second, {.what = "short"});
  CHECK(timeline.end() == 5);
  run(second, {.what = "short", .is_moment = true});
  run(second, {.what = "wait", .other = &first, .place = 1});
  run(second, {.what = "long"});
  run(first, {.what = "long"});
  CHECK(timeline.end() == 10);
  run(first, {.what = "wait", .other = &second, .place = 1});
  run(first, {.what = "short"});
  CHECK(timeline.end() == 11);
}

}  // namespace monomorph::testing
