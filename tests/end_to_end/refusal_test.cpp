// What is wrong is said in one line on standard error, before anything is created: exit code 2.
#include "programs.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace monomorph::testing;

namespace {

/// Trains with a hyperparameter file of this text, where RUN stands for a run folder; it must not come into being.
void check_hparams_refusal(const std::string& text, const std::vector<std::string>& parts) {
  CAPTURE(text);
  const TemporaryFolder folder;
  std::string json = text;
  if (const auto at = json.find("RUN"); at != std::string::npos) json.replace(at, 3, folder / "run");
  write_bytes(folder / "bad.json", json);
  const ProcessResult result = run_program("tiny_gpt2", {"--hparams", folder / "bad.json"});
  check_refusal(result, 2, parts);
  CHECK(result.out.empty());
  CHECK(n_entries(folder.path()) == 1);
}

}  // namespace

TEST_CASE("a hyperparameter file that is wrong is refused with file, line and what to do") {
  const std::string begin = "{\n \"run\": {\"output_dir\": \"RUN\"}, \"data\": {\"train\": \"x\"},\n ";
  check_hparams_refusal(begin + "\"optimiser\": {}\n}", {"[HPARAM-01]", "bad.json:3", "optimiser", "\"optimizer\""});
  check_hparams_refusal(begin + "\"optimizer\": {\"lrr\": 1}\n}", {"[HPARAM-01]", "bad.json:3", "\"optimizer.lr\""});
  check_hparams_refusal(begin + "\"optimizer\": {\"lr\": \"3e-4\"}\n}",
                        {"[HPARAM-02]", "bad.json:3", "optimizer.lr", "a number"});
  check_hparams_refusal(begin + "\"optimizer\": {\"lr\": 101}\n}",
                        {"[HPARAM-03]", "bad.json:3", "from 0 to 100", "101"});
  check_hparams_refusal(begin + "\"log\": {\"every\": 1,\n \"every\": 2}\n}",
                        {"[HPARAM-04]", "bad.json:4", "line 3", "log.every"});
  check_hparams_refusal(begin + "\"optimizer\": {\"lr\": NaN}\n}", {"[HPARAM-05]", "bad.json:3"});
  check_hparams_refusal("{}\n}", {"[HPARAM-05]", "bad.json:2"});
  check_hparams_refusal("", {"[HPARAM-05]", "bad.json"});
  check_hparams_refusal("{}", {"[HPARAM-10]", "data.train"});
  check_hparams_refusal(R"({"data": {"train": "x"}, "batch": {"global_batch": 6, "micro_batch": 4}})",
                        {"[HPARAM-11]", "batch.global_batch = 6", "4 or 8"});
}

TEST_CASE("all mistakes of the hyperparameters are told at once, and once on several ranks") {
  const Workplace place("tiny_gpt2");
  write_bytes(place / "bad.json", R"({
 "run": {"steps": "many", "output_dir": ""},
 "data": {"train": "x"},
 "optimiser": {"lr": 1},
 "batch": {"global_batch": 7, "micro_batch": 2},
 "log": {"every": 0, "every": 1}
})");
  const std::vector<std::vector<std::string>> mistakes{{"[HPARAM-02] run.steps", "bad.json:2"},
                                                       {"[HPARAM-01] \"optimiser\"", "bad.json:4"},
                                                       {"[HPARAM-03] log.every", "bad.json:6"},
                                                       {"[HPARAM-04] log.every", "bad.json:6"},
                                                       {"[HPARAM-02] log.tensorboard", "--set"},
                                                       {"[HPARAM-19] run.output_dir"},
                                                       {"[HPARAM-11] batch.global_batch = 7"}};
  const Arguments arguments{"--hparams", place / "bad.json", "--set", "log.tensorboard=perhaps"};
  for (const Arguments& command : {Arguments{},
                                   {"check"},
                                   {"--ranks", "2"},
                                   {"check", "--ranks", "2"},
                                   {"check", "--collectives", "--ranks", "2"}}) {
    Arguments all = command;
    all.insert(all.end(), arguments.begin(), arguments.end());
    CAPTURE(command);
    check_refusals(place.run(all), 2, mistakes);
  }
}

TEST_CASE("an empty path is refused with its field") {
  const Workplace place("tiny_gpt2");
  for (const std::string field : {"run.output_dir", "checkpoint.directory", "checkpoint.resume"})
    check_refusal(place.train("run", {field + "="}), 2, {"[HPARAM-19]", field});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("a wrong command line is refused") {
  const Workplace place("tiny_gpt2");
  const std::string file = place.hparams_file("run");
  check_refusal(place.run({}), 2, {"[RUN-10]", "--hparams"});
  check_refusal(place.run({"--hparams", place / "nowhere.json"}), 2, {"[FILE-01]", "nowhere.json"});
  check_refusal(place.run({"--hparams", file, "--set", "optimizer.lr"}), 2, {"[HPARAM-06]", "section.name=value"});
  check_refusal(place.run({"--hparams", file, "--set", "optimizer.lrr=1"}), 2,
                {"[HPARAM-01]", "--set", "optimizer.lr"});
  check_refusal(place.run({"--hparams", file, "--set", "run.steps=many"}), 2, {"[HPARAM-02]", "--set", "many"});
  check_refusal(place.run({"--hparams", file, "--set", "run.steps=0"}), 2,
                {"[HPARAM-03]", "--set", "from 1 to 1,000,000,000"});
  check_refusal(place.run({"--hparams", file, "--verbose"}), 2, {"[RUN-13]", "--verbose", "--help"});
  check_refusal(place.run({"trian", "--hparams", file}), 2, {"[RUN-13]", "trian"});
  check_refusal(place.run({"two\nlines"}), 2, {"[RUN-13]", "two lines"});
  check_refusal(place.run({"describe", "--ranks", "0"}), 2, {"[RUN-13]", "--ranks"});
  check_refusal(place.run({"generate"}), 2, {"[RUN-13]", "--checkpoint"});
  check_refusal(place.run({"check", "--hparams", file, "--set", "optimizer.lr=-1"}), 2, {"[HPARAM-03]"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("a number of the command line is finite and within its bounds, which the refusal has as people write them") {
  struct Number {
    std::string option, expected;
    Arguments command;
    std::vector<std::string> others{};  ///< that are no such number
  };
  const Arguments generate{"generate", "--checkpoint", "nowhere"}, evaluate{"evaluate", "--checkpoint", "nowhere"};
  for (const auto& [option, expected, command, others] : std::vector<Number>{
           {"--temperature", "a number from 0.000001 to 1,000,000", generate, {"0", "1e7", "1e-400", "0,5"}},
           {"--top-p", "a number from 0.000000001 to 1", generate, {"0", "1.01"}},
           {"--top-k", "a whole number from 0 to 9,223,372,036,854,775,807", generate, {"1.5"}},
           {"--max-tokens", "a whole number from 1 to 1,099,511,627,776", generate, {"0", "1099511627777"}},
           {"--seed", "a whole number from 0 to 18,446,744,073,709,551,615", generate, {"18446744073709551616"}},
           {"--micro-batch", "a whole number from 1 to 1,048,576", evaluate},
           {"--micro-batch", "a whole number from 1 to 1,048,576 or auto", {"describe"}},
           {"--ranks", "a whole number from 1 to 1,048,576", {"describe"}},
           {"--ranks", "a whole number from 1 to 4,096", {}, {"4097"}}}) {
    Arguments values{"nan", "inf", "-inf", "-1", "1e400", "99999999999999999999", "0x10", "1 ", "", "one"};
    values.insert(values.end(), others.begin(), others.end());
    for (const std::string& value : values) {
      CAPTURE(option, value);
      Arguments arguments = command;
      arguments.insert(arguments.end(), {option, value});
      const ProcessResult result = run_program("tiny_gpt2", arguments);
      check_refusal(result, 2, {"[RUN-13] " + option + " must be " + expected + ", not \"" + value + "\""});
      CHECK(result.out.empty());
    }
  }
  check_refusal(run_program("tiny_gpt2", {"--trace", "steps=99999999999999999999"}), 2, {"[RUN-13]", "from 1 to 1000"});
}

TEST_CASE("a seed of 64 bits is taken, and a number with leading zeros is decimal") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  const auto generate = [&](const std::string& seed) {
    const ProcessResult result =
        place.run({"generate", "--checkpoint", place / "run", "--prompt", "a", "--max-tokens", "20", "--seed", seed});
    CHECK(result.exit_code == 0);
    return result.out;
  };
  CHECK(generate("18446744073709551615") != generate("18446744073709551614"));
  CHECK(generate("0010") == generate("10"));
}

TEST_CASE("options that contradict each other are refused") {
  for (const Arguments& choice : {Arguments{"--temperature", "0.5"}, {"--top-k", "3"}, {"--top-p", "0.5"}}) {
    Arguments arguments{"generate", "--checkpoint", "nowhere", "--greedy"};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    check_refusal(run_program("tiny_gpt2", arguments), 2, {"[RUN-13]", "--greedy", choice[0]});
  }
}

TEST_CASE("an option of training is refused where a command would not read it") {
  const std::vector<Arguments> commands{{"describe"},
                                        {"schema"},
                                        {"score", "--checkpoint", "nowhere"},
                                        {"chat", "--checkpoint", "nowhere"},
                                        {"retrieve", "--checkpoint", "nowhere"},
                                        {"embed", "--checkpoint", "nowhere"},
                                        {"import", "nowhere", "--output", "nowhere"},
                                        {"export", "--checkpoint", "nowhere", "--output", "nowhere"}};
  const auto refused = [](const Arguments& option, const Arguments& command) {
    CAPTURE(option, command);
    const std::string name = option[0].substr(0, option[0].find('='));
    check_refusal(run_program("tiny_gpt2", with(option, command)), 2, {"[RUN-13] " + name, command[0]});
  };
  for (const Arguments& command : commands) refused({"--ranks", "2"}, command);
  for (const Arguments& option :
       {Arguments{"--ranks=1"}, {"--trace", "steps=2"}, {"--hparams", "x.json"}, {"--set", "run.steps=3"}})
    refused(option, {"schema"});
  check_refusal(run_program("tiny_gpt2", {"--ranks", "2", "describe"}), 2, {"write it after describe"});
  check_refusal(run_program("tiny_gpt2", {"--ranks", "2", "schema"}), 2, {"leave it out"});
}

TEST_CASE("check reads the number of ranks before it and behind it, and no other option of training") {
  const Workplace place("tiny_gpt2");
  const std::string file = place.hparams_file("run");
  for (const Arguments& command : {Arguments{"--ranks", "2", "check"}, {"check", "--ranks", "2"}}) {
    const ProcessResult result = place.run(with(command, {"--hparams", file}));
    CAPTURE(command, result.out, result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "2 ranks"));
  }
  check_refusal(place.run({"--hparams", file, "check"}), 2, {"[RUN-13] --hparams", "write it after check"});
  check_refusal(place.run({"--set", "run.steps=3", "check", "--hparams", file}), 2,
                {"[RUN-13] --set", "write it after check"});
  for (const Arguments& kind : {Arguments{}, {"--collectives"}})
    check_refusal(place.run(with(Arguments{"check", "--trace", "steps=2", "--hparams", file}, kind)), 2,
                  {"[RUN-13] --trace", "leave it out"});
}

TEST_CASE("a command that is the work of one process is refused where a launcher has started several") {
  for (const Arguments& command : {Arguments{"describe"},
                                   {"schema"},
                                   {"score", "--checkpoint", "nowhere"},
                                   {"import", "nowhere", "--output", "nowhere"}}) {
    CAPTURE(command);
    for (const int rank : {0, 1})
      check_refusal(run_program("tiny_gpt2", command, rank_environment(rank, 2, "1")), 2,
                    {"[RUN-27] " + command[0], "has started 2", "without the launcher"});
  }
  CHECK(run_program("tiny_gpt2", {"describe"}, rank_environment(0, 1, "1")).exit_code == 0);
}

TEST_CASE("the option --help tells of every command") {
  const ProcessResult help = run_program("tiny_gpt2", {"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  for (const std::string word : {"--hparams", "--set", "describe", "schema", "check", "evaluate", "generate"}) {
    CAPTURE(word, help.out);
    CHECK(contains(help.out, word));
  }
  for (const std::string command : {"describe", "schema", "check", "evaluate", "generate"}) {
    const ProcessResult of_command = run_program("tiny_gpt2", {command, "--help"});
    CHECK(of_command.exit_code == 0);
    CAPTURE(of_command.out);
    for (const std::string internal : {"INT", "FLOAT", "ENUM", "->", " in ["})
      CHECK_FALSE(contains(of_command.out, internal));
  }
}

TEST_CASE("data that does not fit is refused with its field") {
  const Workplace place("tiny_gpt2"), llama("tiny_llama");
  const std::string packed = read_bytes(place / "train.pbin");
  write_bytes(place / "truncated.pbin", packed.substr(0, packed.size() - 7));
  write_bytes(place / "header.pbin", packed.substr(0, 11));
  write_bytes(place / "short.txt", "To be");
  REQUIRE(run_program("monomorph-data", {"pack", place / "short.txt", "--tokenizer", place / "tokenizer.json",
                                         "--output", place / "short.pbin"})
              .exit_code == 0);
  const auto refused = [&](const std::string& set, const std::vector<std::string>& parts) {
    CAPTURE(set);
    check_refusal(place.train("run", {set}), 2, parts);
    check_refusal(place.run({"check", "--hparams", place.hparams_file("run"), "--set", set}), 2, parts);
  };
  refused("data.train=" + place / "nowhere.pbin", {"[FILE-01]", "nowhere.pbin", "(data.train)"});
  refused("data.evaluation=" + place / "nowhere.pbin", {"[FILE-01]", "nowhere.pbin", "(data.evaluation)"});
  refused("data.train=" + place / "truncated.pbin", {"[DATA-0", "truncated.pbin", "(data.train)"});
  refused("data.train=" + place / "header.pbin", {"[DATA-06]", "header.pbin", "(data.train)"});
  refused("data.train=" + place / "short.pbin", {"[DATA-08]", "short.pbin", "33"});
  refused("data.train=" + llama / "train.pbin", {"[DATA-07]", "256"});
  refused("data.tokenizer=" + llama / "tokenizer.json", {"[RUN-07]", "512 ids", "257"});
  refused("data.tokenizer=" + place / "nowhere.json", {"[FILE-01]", "nowhere.json"});
  refused("data.tokenizer=" + place / "train.txt", {"[TOK-01]", "train.txt"});
  check_refusal(llama.train("run", {"data.tokenizer=" + place / "tokenizer.json"}), 2,
                {"[DATA-63]", "train.pbin", "256", "(data.train)"});
  check_refusal(llama.train("run",
                            {"data.tokenizer=" + place / "tokenizer.json", "data.train=" + place / "train.pbin"}),
                2, {"[RUN-15]", "held-out", "256"});
  for (const Workplace* const any : {&place, &llama}) CHECK_FALSE(std::filesystem::exists(*any / "run"));
}

TEST_CASE("data of one byte a token is not that of a tokeniser with more ids") {
  const Workplace place("tiny_gpt2");
  std::string bytes("\x40\0\0\0\0\0\0\0\x01\0\0\0", 12);
  bytes += std::string(64, 'a') + std::string("\x80\x04\x5d\x94\x2e", 5);  // an index without documents
  write_bytes(place / "narrow.pbin", bytes);
  check_refusal(place.train("run", {"data.train=" + place / "narrow.pbin"}), 2,
                {"[DATA-63]", "narrow.pbin", "1 byte a token", "257 ids", "(data.train)"});
  CHECK(place.train("run", {"data.train=" + place / "narrow.pbin", "data.tokenizer=", "run.steps=3"}).exit_code == 0);
}

TEST_CASE("a mixture that can't be is refused with the set's name") {
  const Workplace place("tiny_gpt2");
  write_bytes(place / "short.txt", "To be");
  REQUIRE(run_program("monomorph-data", {"pack", place / "short.txt", "--tokenizer", place / "tokenizer.json",
                                         "--output", place / "short.pbin"})
              .exit_code == 0);
  const std::string train = place / "train.pbin", held_out = place / "held_out.pbin";
  const auto two = [&](const std::string& path, const std::string& weight) {
    return R"(data.train=[{"path": ")" + train + R"(", "weight": 3}, {"path": ")" + path + R"(", "weight": )" + weight +
           "}]";
  };
  const auto refused = [&](const std::vector<std::string>& sets, const std::vector<std::string>& parts) {
    check_refusal(place.train("run", sets), 2, parts);
    Arguments check = place.training("run", sets);
    check.insert(check.begin(), "check");
    check_refusal(place.run(check), 2, parts);
  };
  refused({two(held_out, "0")}, {"[HPARAM-03]", "data.train[1].weight"});
  refused({two(held_out, "-2")}, {"[HPARAM-03]", "data.train[1].weight"});
  refused({two(held_out, "1e-7")}, {"[DATA-64]", "(data.train)"});
  refused({two(train, "1")}, {"[HPARAM-17]", "train.pbin"});
  refused({two(place / "../" + std::filesystem::path(place / "").parent_path().filename().string() + "/train.pbin",
               "1")},
          {"[HPARAM-17]", "train.pbin"});
  refused({two("", "1")}, {"[HPARAM-10]", "every file"});
  refused({two(place / "nowhere.pbin", "1")}, {"[FILE-01]", "nowhere.pbin", "(data.train)"});
  refused({two(place / "short.pbin", "1")}, {"[DATA-08]", "short.pbin", "(data.train)"});
  // 36 steps of 8 samples; the training text has 187 samples, the held-out text some 46.
  refused({"run.steps=36", "data.max_epochs=1"}, {"[DATA-60]", "train.pbin", "takes 288", "data.max_epochs = 1"});
  refused({"run.steps=36", "data.max_epochs=2", two(held_out, "3")},
          {"[DATA-60]", "held_out.pbin", "takes 144", "data.max_epochs = 2"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
  const ProcessResult accepted = place.run({"check", "--hparams", place.hparams_file("run"), "--set", "run.steps=36",
                                            "--set", "data.max_epochs=2", "--set", two(held_out, "1")});
  CAPTURE(accepted.out, accepted.err);
  CHECK(accepted.exit_code == 0);
  CHECK(contains(accepted.out, "75 % of the samples"));
  CHECK(contains(accepted.out, "held_out.pbin"));
}

TEST_CASE("a training file that was replaced since the checkpoint is refused, another one is not") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  const std::string packed = read_bytes(place / "train.pbin");
  std::string changed = packed;
  std::size_t at = 12;  // tokens of two bytes: two neighbours that differ change places
  while (changed[at] == changed[at + 2]) at += 2;
  std::swap(changed[at], changed[at + 2]);
  write_bytes(place / "train.pbin", changed);
  const std::vector<std::string> resume{"run.steps=5", "checkpoint.resume=auto"};
  const std::vector<std::string> parts{"[DATA-61]", "train.pbin", "step_00000003", "(data.train)"};
  check_refusal(place.train("run", resume), 2, parts);
  Arguments check = place.training("run", resume);
  check.insert(check.begin(), "check");
  check_refusal(place.run(check), 2, parts);
  write_bytes(place / "other.pbin", changed);
  CHECK(place.train("run", {"run.steps=4", "checkpoint.resume=auto", "data.train=" + place / "other.pbin"}).exit_code ==
        0);
  write_bytes(place / "train.pbin", packed);
  CHECK(place.train("run", resume).exit_code == 0);
}

TEST_CASE("a run folder that can't be is refused") {
  const Workplace place("tiny_gpt2");
  const std::size_t before = n_entries(place / "");
  for (const std::string field : {"run.output_dir", "checkpoint.directory"})
    for (const std::string& path : {std::string("/dev/null/run"), std::string("/proc/run"), place / "train.txt"}) {
      const std::string set = field + "=" + path;
      check_refusal(place.train("run", {set}), 2, {"[RUN-02]", field, path});
      Arguments check = place.training("run", {set});
      check.insert(check.begin(), "check");
      check_refusal(place.run(check), 2, {"[RUN-02]", field, path});
    }
  CHECK(n_entries(place / "") == before + 1);  // the hyperparameters
}

TEST_CASE("a Slurm allocation of several tasks in which one process was started is one rank") {
  const Workplace place("tiny_gpt2");
  const Process::Environment in_sbatch{{"SLURM_NTASKS", "8"}, {"SLURM_NPROCS", "8"}, {"SLURM_JOB_ID", "17"}};
  CHECK(place.run(place.training("run", {"run.steps=3"}), in_sbatch).exit_code == 0);
}

TEST_CASE("a micro-batch beyond the machine's memory is refused before anything is created") {
  const Workplace place("tiny_gpt2");
  for (const Arguments& command : {Arguments{}, Arguments{"check"}}) {
    Arguments arguments = place.training("run", {"batch.global_batch=1000000", "batch.micro_batch=1000000"});
    arguments.insert(arguments.begin(), command.begin(), command.end());
    check_refusal(place.run(arguments), 2, {"[RUN-16]", "batch.micro_batch = 1000000", "this machine gives"});
  }
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

#ifndef MONOMORPH_SANITIZE  // its shadow memory alone is more than the limit below
TEST_CASE("memory that can't be had is refused before anything is created, with what the command can do about it") {
  const Workplace place("tiny_gpt2");
  const auto limited = [&](const Arguments& arguments) {
    return run_process(bash("ulimit -v 2000000; exec \"$@\"", command(place, arguments)));
  };
  check_refusal(limited(place.training("run", {"batch.micro_batch=20000", "batch.global_batch=20000"})), 2,
                {"[ARENA-02]", "3.10 GiB", "Cannot allocate memory", "batch.micro_batch", "checkpointing"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  check_refusal(limited({"evaluate", "--checkpoint", place / "run", "--micro-batch", "60000"}), 2,
                {"[ARENA-02]", "5.09 GiB", "--micro-batch"});
}
#endif
