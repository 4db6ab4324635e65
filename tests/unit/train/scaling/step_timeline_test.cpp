#include "train/scaling/step_timeline.hpp"

#include "support/catch.hpp"

using monomorph::train::StepTimeline;

TEST_CASE("a collective runs beside kernels, and who waits for it waits for the rest") {
  StepTimeline timeline;
  const double gathered = timeline.communicate(3);
  CHECK(gathered == 3);
  timeline.compute(2);
  CHECK(timeline.now() == 2);
  timeline.wait(gathered);
  CHECK(timeline.now() == 3);
  CHECK(timeline.exposed() == 1);
  timeline.wait(1);  // long over
  CHECK(timeline.now() == 3);
}

TEST_CASE("collectives run one after the other, and none begins before it is asked for") {
  StepTimeline timeline;
  CHECK(timeline.communicate(3) == 3);
  CHECK(timeline.communicate(2) == 5);
  timeline.compute(10);
  CHECK(timeline.communicate(1) == 11);
  CHECK(timeline.communicate(0) == 10);  // there is none
  timeline.wait_for_all();
  CHECK(timeline.now() == 11);
}

TEST_CASE("kernels lack the bandwidth that a collective takes") {
  StepTimeline timeline;
  timeline.compute(1);
  CHECK(timeline.communicate(3, 0.5) == 4);
  timeline.compute(1);
  CHECK(timeline.now() == 2.5);
  CHECK(timeline.exposed() == 0);
  CHECK(timeline.communicate(0, 0.5) == 2.5);  // there is none
}
