// From a trained model to a smaller one that has learnt from it, on Shakespeare's lines.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

using namespace monomorph::testing;

namespace {

/// A workplace with a run of tiny_llama, the teacher.
struct School : Workplace {
  School() : Workplace("tiny_distillation") {
    succeed(run_program("tiny_llama", {"--hparams", hparams_file("teacher"), "--set", "run.steps=150", "--set",
                                       "schedule.kind=constant"}));
  }
  static void succeed(const ProcessResult& result) {
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  std::vector<std::string> sets(const std::vector<std::string>& more = {}) const {
    return with(std::vector<std::string>{"teacher.from=" + *this / "teacher", "run.steps=60", "schedule.kind=constant",
                                         "log.every=1"},
                more);
  }
};

}  // namespace

TEST_CASE("a student comes nearer to its teacher, and resumes to the same bits with the same teacher alone") {
  const School place;
  School::succeed(place.train("whole", place.sets()));
  const auto divergences = metric_values(place / "whole", "divergence"),
             losses = metric_values(place / "whole", "cross_entropy"),
             of_teacher = metric_values(place / "whole", "teacher_loss");
  CHECK(divergences.at(60) < 0.6 * divergences.at(1));
  CHECK(losses.at(60) < losses.at(1));
  CHECK(of_teacher.at(1) < losses.at(1));
  CHECK(metric_values(place / "whole", "agreement").at(60) > metric_values(place / "whole", "agreement").at(1));
  const double held_out = metric_values(place / "whole", "evaluation_loss").at(60);
  CHECK(metric_values(place / "whole", "evaluation_cross_entropy").at(60) == Approx(held_out).epsilon(1e-6));
  CHECK(metric_values(place / "whole", "evaluation_divergence").at(60) < divergences.at(1));
  // The student alone is in the checkpoint, and is evaluated and asked without its teacher.
  std::filesystem::rename(place / "teacher", place / "elsewhere");
  const ProcessResult evaluated = place.run({"evaluate", "--checkpoint", place / "whole"});
  INFO(evaluated.out << evaluated.err);
  CHECK((contains(evaluated.out, "loss ") && contains(evaluated.out, "perplexity")));
  CHECK_FALSE(contains(evaluated.out, "divergence"));
  School::succeed(place.run({"generate", "--checkpoint", place / "whole", "--prompt", "First", "--max-tokens", "4"}));
  std::filesystem::rename(place / "elsewhere", place / "teacher");

  School::succeed(place.train("parted", place.sets({"run.steps=30"})));
  School::succeed(run_program("tiny_llama", {"--hparams", place.hparams_file("other"), "--set", "run.steps=10", "--set",
                                             "schedule.kind=constant"}));
  check_refusal(place.train("parted", place.sets({"checkpoint.resume=auto", "teacher.from=" + place / "other"})), 2,
                {"[TEACHER-03]", "other weights", "other", "teacher.from"});
  // The same weights in a folder of Hugging Face's are the same teacher.
  School::succeed(
      run_program("tiny_llama", {"export", "--checkpoint", place / "teacher", "--output", place / "folder"}));
  School::succeed(place.train("parted", place.sets({"checkpoint.resume=auto", "teacher.from=" + place / "folder"})));
  CHECK(final_state(place / "parted") == final_state(place / "whole"));
}

TEST_CASE("with its teacher a student has a lower held-out loss than alone, after as many steps") {
  const School place;
  School::succeed(place.train("taught", place.sets({"loss.teacher_weight=0.5", "run.steps=150"})));
  School::succeed(place.train("alone", place.sets({"loss.teacher_weight=0", "run.steps=150"})));
  const auto held_out = [&](const std::string& run, const std::string& name) {
    return metric_values(place / run, "evaluation_" + name).rbegin()->second;
  };
  CHECK(held_out("taught", "divergence") < held_out("alone", "divergence"));
  CHECK(held_out("taught", "loss") < held_out("alone", "loss"));
}

TEST_CASE("several ranks teach a student to the bits of one") {
  const School place;
  const std::vector<std::string> sets =
      place.sets({"run.steps=4", "batch.reduction=fixed_tree", "batch.micro_batch=2"});
  School::succeed(place.train("one", sets));
  School::succeed(place.run(with(Arguments{"--ranks", "2"}, place.training("two", sets))));
  CHECK(final_state(place / "two") == final_state(place / "one"));
}

TEST_CASE("what a teacher lacks, and who has none, is refused in a line") {
  const School place;
  const auto refused = [&](const std::vector<std::string>& sets, const std::vector<std::string>& parts) {
    check_refusal(place.train("run", place.sets(sets)), 2, parts);
    check_refusal(place.run(with(Arguments{"check"}, place.training("run", place.sets(sets)))), 2, parts);
  };
  refused({"teacher.from="}, {"[TEACHER-01]", "tiny_distillation", "teacher.from"});
  refused({"teacher.from=" + place / "nowhere"}, {"[RUN-03]", "nowhere", "(teacher.from)"});
  School::succeed(place.train("student", place.sets({"run.steps=5"})));
  refused({"teacher.from=" + place / "student"}, {"[WEIGHTS-08]", "student", "tiny_llama", "(teacher.from)"});
  check_refusal(run_program("tiny_llama", with(Arguments{"--hparams", place.hparams_file("run")},
                                               {"--set", "teacher.from=" + place / "teacher"})),
                2, {"[TEACHER-02]", "tiny_llama", "teacher.from"});
  const ProcessResult described = place.run({"describe"});
  INFO(described.out);
  CHECK(contains(described.out, "what the teacher makes of it: recipes::tiny_llama, 2 layers of width 64"));
  CHECK(contains(described.out, "  teacher  "));
  const ProcessResult checked = place.run(with(Arguments{"check"}, place.training("new", place.sets())));
  INFO(checked.err);
  CHECK(checked.exit_code == 0);
}
