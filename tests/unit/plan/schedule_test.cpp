#include <monomorph/plan/schedule.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace monomorph::testing {
namespace {

using plan::Operation;
using plan::PassKind;
using plan::Schedule;

constexpr std::int64_t forward_time = 1, backward_time = 2;

/// A pipeline in which a stage does one operation after the other in the order of its schedule, each as soon as its
/// neighbour has delivered what it reads.
class Pipeline {
 public:
  Pipeline(int stages, std::int64_t micro_batches) {
    for (int stage = 0; stage < stages; ++stage)
      stages_.push_back({.schedule = {micro_batches, stage, stages},
                         .forward_done = std::vector<std::optional<std::int64_t>>(micro_batches),
                         .backward_done = std::vector<std::optional<std::int64_t>>(micro_batches)});
  }

  /// When the last stage is done; absent if all of them wait for each other.
  std::optional<std::int64_t> run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t s = 0; s < stages_.size(); ++s)
        while (advance(s)) moved = true;
    }
    std::int64_t end = 0;
    for (const Stage& stage : stages_) {
      if (stage.next < stage.schedule.size()) return std::nullopt;
      end = std::max(end, stage.time);
    }
    return end;
  }
  std::int64_t most_in_flight(int stage) const { return stages_[stage].most_in_flight; }

 private:
  struct Stage {
    Schedule schedule;
    std::vector<std::optional<std::int64_t>> forward_done, backward_done;
    std::int64_t next = 0, time = 0, in_flight = 0, most_in_flight = 0;
  };

  bool advance(std::size_t s) {
    Stage& stage = stages_[s];
    if (stage.next == stage.schedule.size()) return false;
    const auto [pass, micro] = stage.schedule[stage.next];
    std::optional<std::int64_t> ready = 0;
    if (pass == PassKind::forward && s > 0) ready = stages_[s - 1].forward_done[micro];
    if (pass == PassKind::backward)
      ready = s + 1 < stages_.size() ? stages_[s + 1].backward_done[micro] : stage.forward_done[micro];
    if (!ready || (pass == PassKind::backward && !stage.forward_done[micro])) return false;
    stage.time = std::max(stage.time, *ready) + (pass == PassKind::forward ? forward_time : backward_time);
    std::optional<std::int64_t>& done = (pass == PassKind::forward ? stage.forward_done : stage.backward_done)[micro];
    CHECK_FALSE(done);
    done = stage.time;
    stage.in_flight += pass == PassKind::forward ? 1 : -1;
    stage.most_in_flight = std::max(stage.most_in_flight, stage.in_flight);
    ++stage.next;
    return true;
  }

  std::vector<Stage> stages_;
};

}  // namespace

TEST_CASE("a model in one stage goes forward and backward with one micro-batch after the other") {
  constexpr Schedule schedule{.micro_batches = 3};
  static_assert(schedule.size() == 6 && schedule.in_flight() == 1);
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(schedule[2 * i] == Operation{PassKind::forward, i});
    CHECK(schedule[2 * i + 1] == Operation{PassKind::backward, i});
  }
}

TEST_CASE("stages of a pipeline do not wait for each other in a circle, and idle no longer than 1F1B must") {
  for (int stages = 1; stages <= 8; ++stages)
    for (std::int64_t micro_batches = 1; micro_batches <= 20; ++micro_batches) {
      CAPTURE(stages, micro_batches);
      Pipeline pipeline(stages, micro_batches);
      // Narayanan et al. 2021, section 2.2.1: a bubble of stages - 1 forward and backward passes.
      CHECK(pipeline.run() == (micro_batches + stages - 1) * (forward_time + backward_time));
      for (int stage = 0; stage < stages; ++stage)
        CHECK(pipeline.most_in_flight(stage) == Schedule{micro_batches, stage, stages}.in_flight());
    }
}

}  // namespace monomorph::testing
