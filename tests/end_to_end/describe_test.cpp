// What a program says of its recipe and of its hyperparameters.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

using namespace monomorph::testing;

TEST_CASE("describe has the numbers of the plan") {
  const ProcessResult result = run_program("tiny_gpt2", {"describe"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  // Embedding 257 x 32, positions 32 x 32; twice two norms of 64, qkv 96 x 33, output 32 x 33, MLP 128 x 33 + 32 x 129;
  // final norm 64.
  constexpr int parameters = 257 * 32 + 32 * 32 + 2 * (4 * 32 + 96 * 33 + 32 * 33 + 128 * 33 + 32 * 129) + 64;
  static_assert(parameters == 34'720);
  for (const std::string part : {"34,720", "257 ids, padded to 320", "tied to the embedding", "32 tokens", "Replicate",
                                 "Fp32", "EveryNthBlock<2>", "AdamW", "fingerprint"}) {
    CAPTURE(part, result.out);
    CHECK(contains(result.out, part));
  }
  CHECK(run_program("tiny_gpt2", {"describe"}).out == result.out);
  CHECK(run_program("tiny_llama", {"describe"}).out.substr(0, 60) != result.out.substr(0, 60));
}

TEST_CASE("describe says what the layers are made of") {
  const std::string out = run_program("tiny_mixture", {"describe"}).out;
  CAPTURE(out);
  CHECK(contains(out,
                 "1 x monomorph::DecoderBlock (MLP 160), 2 x monomorph::Mixture (8 experts of width 48, top 2 by "
                 "softmax, normalised, 1 shared, dropless, balance loss 0.001, bias rate 0.001)"));
  // Table 512 x 64; attention 64 x 192 with its norms 2 x 64; a dense MLP 3 x 64 x 160; twice a router with biases
  // 8 x 65, and nine experts of 3 x 64 x 48; final norm.
  constexpr int parameters = 512 * 64 + 3 * (64 * 192 + 2 * 64) + 3 * 64 * 160 + 2 * (8 * 65 + 9 * 3 * 64 * 48) + 64;
  static_assert(parameters == 267'728);
  CHECK(contains(out, "267,728"));
  CHECK(contains(run_program("tiny_llama", {"describe"}).out, "2 x monomorph::DecoderBlock\n"));
}

TEST_CASE("describe plans for any number of ranks and any micro-batch") {
  const std::string one = run_program("tiny_llama", {"describe", "--ranks", "1", "--micro-batch", "4"}).out;
  const std::string eight = run_program("tiny_llama", {"describe", "--ranks", "8", "--micro-batch", "4"}).out;
  CHECK(contains(one, "1 data-parallel rank, micro-batch 4"));
  CHECK(contains(eight, "8 data-parallel ranks, micro-batch 4"));
  CHECK(one != eight);
}

TEST_CASE("a snapshot of the memory is the same of describe and of a run, and of the rank that writes it") {
  const Workplace place("tiny_gpt2");
  const std::string of_plan = place / "plan.json", of_run = place / "run_memory.json";
  const ProcessResult described = place.run({"describe", "--micro-batch", "4", "--memory-snapshot", of_plan});
  CAPTURE(described.err);
  CHECK(described.exit_code == 0);
  CHECK(contains(described.out, "that are in use in each phase of a step\n  forward embedding "));
  const auto snapshot = nlohmann::json::parse(read_bytes(of_plan));
  CHECK(snapshot.at("micro_batch") == 4);
  CHECK(snapshot.at("phases").size() == 8);  // two blocks between embedding and head, forward and back, and the update
  CHECK(snapshot.at("regions").size() > 15);
  const auto train = [&](const std::string& file) {
    return place.run(with(Arguments{"--memory-snapshot", file}, place.training("run", {"run.steps=3"})));
  };
  REQUIRE(train(of_run).exit_code == 0);
  CHECK(read_bytes(of_run) == read_bytes(of_plan));
  const std::string nowhere = place / "nowhere/memory.json";
  check_refusal(place.run({"describe", "--memory-snapshot", nowhere}), 2,
                {"[FILE-01]", "nowhere", "--memory-snapshot"});
  check_refusal(place.run(with(Arguments{"--memory-snapshot", nowhere}, place.training("other"))), 2,
                {"[FILE-01]", "nowhere", "--memory-snapshot"});
}

TEST_CASE("schema is a JSON Schema whose defaults the program accepts") {
  const ProcessResult result = run_program("tiny_gpt2", {"schema"});
  REQUIRE(result.exit_code == 0);
  const auto schema = nlohmann::json::parse(result.out);
  CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema.at("additionalProperties") == false);
  const auto& lr = schema.at("properties").at("optimizer").at("properties").at("lr");
  CHECK(lr.at("type") == "number");
  CHECK(lr.at("default") == 3e-4);
  CHECK(lr.at("maximum") == 100);

  const Workplace place("tiny_gpt2");
  nlohmann::json defaults;
  for (const auto& [section, fields] : schema.at("properties").items())
    for (const auto& [name, field] : fields.at("properties").items())
      if (field.contains("default")) defaults[section][name] = field.at("default");
  defaults["data"]["train"] = place / "train.pbin";
  write_bytes(place / "defaults.json", defaults.dump());
  const ProcessResult check = place.run({"check", "--hparams", place / "defaults.json"});
  CHECK(check.err.empty());
  CHECK(check.exit_code == 0);
}
