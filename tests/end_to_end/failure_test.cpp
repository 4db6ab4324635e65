// What goes wrong while a run runs: the last good checkpoint is there and can be used.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <filesystem>

using namespace monomorph::testing;

namespace {

/// With this decay, weights grow by a factor of about 1,000 in each step until their products overflow.
const std::vector<std::string> diverging{"run.steps=40",           "optimizer.lr=100",   "optimizer.weight_decay=10",
                                         "schedule.kind=constant", "checkpoint.every=1", "evaluation.at_end=false"};

}  // namespace

TEST_CASE("steps with non-finite gradients are skipped and counted, too many in a row stop the run") {
  const Workplace place("tiny_gpt2");
  std::vector<std::string> sets = diverging;
  sets.push_back("failure.max_skipped_in_a_row=4");
  const ProcessResult result = place.train("run", sets);
  check_refusal(result, 1, {"[RUN-05]", "5 steps in a row", "optimizer.lr"});

  const auto loss = metric(place / "run", "loss"), skipped = metric(place / "run", "skipped"),
             norm = metric(place / "run", "grad_norm");
  REQUIRE(skipped.rbegin()->second == "5");
  const std::int64_t last = skipped.rbegin()->first, last_good = last - 5;
  CHECK(skipped.at(last_good) == "0");
  CHECK((norm.at(last) == "\"NaN\"" || norm.at(last) == "\"Infinity\""));
  CHECK(loss.at(last_good + 1).front() == '"');  // skipped steps changed nothing: the loss stays what it is
  CHECK(contains(result.out, "skipped 5"));

  // The saves of skipped steps would have deleted the last good checkpoint.
  const std::vector<std::string> saved = checkpoints_of(place / "run");
  REQUIRE(saved.size() == 2);
  CHECK(std::stoll(saved.back().substr(5)) == last_good);
  CHECK(run_program("monomorph-checkpoint", {"verify", place / "run/checkpoints"}).exit_code == 0);
  CHECK(run_program("monomorph-checkpoint", {"verify", place / "run/checkpoints/" + saved.front()}).exit_code == 0);
  for (const std::string& name : saved)
    CHECK(place.run({"evaluate", "--checkpoint", place / "run/checkpoints/" + name}).exit_code == 0);
}

TEST_CASE("a run that never saved keeps the state after its last good step when too many are skipped") {
  const Workplace place("tiny_gpt2");
  const auto diverge = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> sets = diverging;
    std::erase(sets, "checkpoint.every=1");
    sets.insert(sets.end(), {"schedule.warmup_steps=0", "optimizer.lr=1"});
    sets.insert(sets.end(), more.begin(), more.end());
    return place.train(name, sets);
  };
  const ProcessResult result = diverge("run", {});
  check_refusal(result, 1, {"[RUN-05]", "11 steps in a row", "is saved"});
  const std::int64_t last_good = metric(place / "run", "skipped").rbegin()->first - 11;
  REQUIRE(last_good > 2);
  CHECK(contains(result.err, "the state after step " + std::to_string(last_good)));
  const std::vector<std::string> saved = checkpoints_of(place / "run");
  REQUIRE(saved.size() == 1);

  // What is saved is what a run of so many steps ends with.
  REQUIRE(diverge("shorter", {"run.steps=" + std::to_string(last_good)}).exit_code == 0);
  CHECK(checkpoints_of(place / "shorter") == saved);
  CHECK(final_state(place / "run") == final_state(place / "shorter"));

  // From there on it is no better. That stops the run again and takes nothing away.
  check_refusal(diverge("run", {"checkpoint.resume=auto"}), 1,
                {"[RUN-05]", "the state after step " + std::to_string(last_good)});
  CHECK(checkpoints_of(place / "run") == saved);

  // The last good step may be what went wrong: an earlier checkpoint stays, even if one alone is to be kept.
  CHECK(diverge("earlier", {"checkpoint.every=" + std::to_string(last_good - 1), "checkpoint.keep=1"}).exit_code == 1);
  CHECK(checkpoints_of(place / "earlier").size() == 2);
  CHECK(checkpoints_of(place / "earlier").back() == saved.back());
}

TEST_CASE("skipped steps below the limit do not end a run") {
  const Workplace place("tiny_gpt2");
  std::vector<std::string> sets = diverging;
  sets.push_back("failure.max_skipped_in_a_row=1000");
  const ProcessResult result = place.train("run", sets);
  CHECK(result.exit_code == 0);
  CHECK(metric(place / "run", "loss").size() == 40);
  const auto skipped = metric_values(place / "run", "skipped");
  CHECK(skipped.at(40) > 5);
  CHECK(skipped.at(40) < 40);
}

TEST_CASE("a disk that becomes full ends the run in one line and leaves the last checkpoint whole") {
  const Workplace place("tiny_gpt2");
  std::filesystem::create_directory(place / "disk");
  // One checkpoint takes about 420 KB: the third save finds no room. The mount is seen by this command alone.
  const std::string script =
      "mount -t tmpfs -o size=1200k tmpfs \"$1\" || exit 77\n"
      "shift\n"
      "\"$@\"\n"
      "code=$?\n"
      "\"$VERIFY\" verify \"$CHECKPOINTS\" || exit 78\n"
      "ls -A \"$CHECKPOINTS\"\n"
      "exit $code\n";
  Arguments arguments{"unshare", "--map-root-user", "--mount",           "bash", "-c", script,
                      "bash",    place / "disk",    program("tiny_gpt2")};
  for (const std::string& argument :
       place.training("run", {"run.output_dir=" + place / "disk/run", "checkpoint.every=3", "checkpoint.keep=all"}))
    arguments.push_back(argument);
  const ProcessResult result = run_process(arguments, {{"VERIFY", program("monomorph-checkpoint")},
                                                       {"CHECKPOINTS", place / "disk/run/checkpoints"}});
  if (result.exit_code == 77 || contains(result.err, "unshare"))
    MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  CAPTURE(result.out);
  check_refusal(result, 1, {"[FILE-02]", "the disk is full"});
  CHECK(contains(result.out, "step_00000006: complete"));
  CHECK(result.out.ends_with("step_00000003\nstep_00000006\n"));  // nothing half-written
}

TEST_CASE("a disk that is full from the beginning ends the start in one line, and nothing stays behind") {
  const Workplace place("tiny_gpt2");
  std::filesystem::create_directory(place / "disk");
  const std::string script =
      "mount -t tmpfs -o size=64k tmpfs \"$1\" || exit 77\n"
      "head -c 1000000 /dev/zero > \"$1/filler\" 2> /dev/null\n"
      "shift\n"
      "\"$@\"\n"
      "code=$?\n"
      "ls -A \"$DISK\"\n"
      "exit $code\n";
  const Arguments arguments =
      with(Arguments{"unshare", "--map-root-user", "--mount", "bash", "-c", script, "bash", place / "disk"},
           command(place, place.training("run", {"run.output_dir=" + place / "disk/run"})));
  const ProcessResult result = run_process(arguments, {{"DISK", place / "disk"}});
  if (result.exit_code == 77 || contains(result.err, "unshare"))
    MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  check_refusal(result, 1, {"[FILE-02]", "the disk is full", place / "disk/run"});
  CHECK(result.out == "filler\n");
}

TEST_CASE("training data that is cut short during a run ends it in one line") {
  const Workplace place("tiny_gpt2");
  Arguments command{program("tiny_gpt2")};
  for (const std::string& argument : place.training("run", {"run.steps=1000000"})) command.push_back(argument);
  Process run(command);
  REQUIRE(run.wait_for_output("step  "));
  std::filesystem::resize_file(place / "train.pbin", 100);
  const ProcessResult result = run.wait();
  CHECK(result.exit_code == 1);
  CHECK(is_one_line(result.err));
  CHECK(contains(result.err, "[DATA-09]"));
}
