// Ranks that fall behind: stopped and continued at random moments of a run that saves after every step, so in saves
// too.
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <csignal>
#include <random>
#include <thread>

using namespace monomorph::testing;

namespace {

constexpr const char* saves_always = "checkpoint.every=1";

class RandomTime {
 public:
  void sleep(int least_ms, int most_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(least_ms, most_ms)(random_)));
  }
  int below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }

 private:
  std::mt19937 random_{5};
};

}  // namespace

TEST_CASE("ranks that fall behind by less than the limit lose nothing") {
  const Workplace place("tiny_gpt2");
  RandomTime time;
  constexpr std::int64_t steps = 40;
  StartedRanks run(place, 2, {"run.steps=" + std::to_string(steps), saves_always, "failure.rank_timeout=60"});
  REQUIRE(run.ranks[0].wait_for_output("\nstep  "));
  for (int stops = 0; stops < 40; ++stops) {
    Process& victim = run.ranks[time.below(2)];
    victim.signal(SIGSTOP);
    time.sleep(5, 100);
    victim.signal(SIGCONT);
    time.sleep(1, 20);
  }
  for (const ProcessResult& result : run.wait()) {
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
  CHECK(final_state(place / "run") == undisturbed_state(place, steps));
}

// The limit is far above what a crowded machine takes for a save: a rank that only waits for its disk is not blamed.
TEST_CASE("a rank that falls behind beyond the limit ends all with its name, and a restart loses no whole checkpoint") {
  // Behind the steps, the checkpoint in flight is lost, too.
  for (const auto& [n, victim, saving, most_lost] :
       {std::tuple{2, 0, "checkpoint.async_save=off", 1}, {4, 2, "checkpoint.async_save=on", 2}}) {
    CAPTURE(n, victim, saving);
    const Workplace place("tiny_gpt2");
    RandomTime time;
    std::int64_t last = 0;
    {
      StartedRanks run(place, n, {"run.steps=1000000", saves_always, saving, "failure.rank_timeout=10"});
      REQUIRE(wait_for_save(place / "run", 1));
      time.sleep(50, 400);
      run.ranks[victim].signal(SIGSTOP);
      for (int rank = 0; rank < n; ++rank)
        if (rank != victim)
          check_lost_rank(run.ranks[rank].wait(), victim, "no word from rank " + std::to_string(victim));
      run.ranks[victim].signal(SIGCONT);
      CHECK(run.ranks[victim].wait().exit_code == 1);
      last = last_step(run.ranks[0].out());
    }
    const std::int64_t saved = last_saved_step(place / "run"), end = last + 3;
    CHECK(saved >= last - most_lost);
    StartedRanks restarted(place, n, {"run.steps=" + std::to_string(end), saves_always});
    for (const ProcessResult& result : restarted.wait()) CHECK(result.exit_code == 0);
    CHECK(resumed_after(restarted.ranks[0].out()) == saved);
    CHECK(final_state(place / "run") == undisturbed_state(place, end));
  }
}
