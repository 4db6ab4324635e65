// import, export and weights.from, as a user calls them: what must be refused above all, as folders come from outside.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/sentence_piece_file.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>

using namespace monomorph::testing;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void check_success(const ProcessResult& result) {
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

/// A workplace with a run and an export of it.
struct Exported : Workplace {
  explicit Exported(const std::string& recipe) : Workplace(recipe) {
    REQUIRE(train("run", {"run.steps=3"}).exit_code == 0);
    const ProcessResult result = run({"export", "--checkpoint", *this / "run", "--output", *this / "model"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  /// The export, with a file changed.
  std::string changed(const std::string& file, const std::function<std::string(std::string)>& change) const {
    fs::remove_all(*this / "changed");
    fs::copy(*this / "model", *this / "changed", fs::copy_options::recursive);
    const std::string path = *this / ("changed/" + file);
    write_bytes(path, change(read_bytes(path)));
    return *this / "changed";
  }
  std::string with_config(const std::function<void(Json&)>& change) const {
    return changed("config.json", [&](const std::string& text) {
      Json config = Json::parse(text);
      change(config);
      return config.dump();
    });
  }
  void check_import_refused(const std::string& folder, const std::vector<std::string>& parts) const {
    check_refusal(run({"import", folder, "--output", *this / "imported"}), 2, parts);
    CHECK_FALSE(fs::exists(*this / "imported"));
  }
};

std::string digest(const std::string& checkpoint) {
  const std::string all = run_program("monomorph-checkpoint", {"digest", checkpoint}).out;
  std::string parameters;
  std::size_t begin = 0;
  for (std::size_t end; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (const std::string line = all.substr(begin, end + 1 - begin); !contains(line, "moment")) parameters += line;
  return parameters;
}

/// For images and sounds, behind the 512 rows of tiny_llama.
void add_tokens_without_rows(const std::string& file) {
  Json tokenizer = Json::parse(read_bytes(file));
  for (const auto& [id, content] : {std::pair(512, "<image_soft_token>"), std::pair(513, "<sound>")})
    tokenizer["added_tokens"].push_back({{"id", id},
                                         {"content", content},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", true}});
  write_bytes(file, tokenizer.dump());
}
const std::string tokens_left_out =
    "has tokens beyond the vocab_size of 512, which are taken for ordinary text: \"<image_soft_token>\", \"<sound>\"";

/// That a command has done its work and told of these tokens, once and beside its results.
void check_tells_left_out(const ProcessResult& result) {
  check_success(result);
  CHECK(is_one_line(result.err));
  CHECK(contains(result.err, tokens_left_out));
  CHECK_FALSE(contains(result.out, tokens_left_out));
}

/// Behind the last evaluation of a run.
double held_out_loss(const std::string& run) { return metric_values(run, "evaluation_loss").rbegin()->second; }

/// The adapters that a run "adapted" has trained give the same evaluation merged into an export, and beside the model
/// of the folder "model".
void check_that_adapters_travel(const Exported& place, const std::string& recipe) {
  const auto evaluation = [&](const std::string& program, const std::string& run) {
    const ProcessResult result =
        run_program(program, {"evaluate", "--checkpoint", place / run, "--data", place / "held_out.pbin"});
    check_success(result);
    return result.out;
  };
  const std::string expected = evaluation(recipe, "adapted");
  const Arguments export_run{"export", "--checkpoint", place / "adapted", "--output"};
  check_success(run_program(recipe, with(export_run, {place / "merged"})));
  check_success(place.run({"import", place / "merged", "--output", place / "imported"}));
  CHECK(evaluation("tiny_llama", "imported") == expected);
  check_success(run_program(recipe, with(export_run, {place / "adapters", "--adapter"})));
  check_success(
      run_program(recipe, {"import", place / "model", "--adapter", place / "adapters", "--output", place / "again"}));
  CHECK(evaluation(recipe, "again") == expected);
}

/// Of a run "adapted" beside what was never imported, and of an import "again" of the folder "model": adapters that are
/// exported name the folder, those of a run that goes on from the import, too.
void check_that_adapters_name_their_base(const Exported& place) {
  const auto base_of = [&](const std::string& run, const std::string& folder) {
    check_success(run_program("tiny_llama_lora",
                              {"export", "--checkpoint", place / run, "--adapter", "--output", place / folder}));
    return Json::parse(read_bytes(place / (folder + "/adapter_config.json"))).at("base_model_name_or_path");
  };
  CHECK(base_of("adapted", "adapters_of_run").is_null());  // its base was never imported
  CHECK(base_of("again", "adapters_of_import") == place / "model");
  check_success(
      run_program("tiny_llama_lora", place.training("further", {"run.steps=3", "weights.from=" + place / "again"})));
  fs::rename(place / "model", place / "moved");
  CHECK(base_of("further", "adapters_of_further") == place / "model");
  fs::rename(place / "moved", place / "model");
  fs::remove_all(place / "again");
  CHECK(base_of("further", "adapters_of_unknown").is_null());

  // A base that was trained, or that has got more rows, is no longer that of the folder.
  const auto train_from = [&](const std::string& recipe, const std::string& run, const std::string& from) {
    check_success(run_program(recipe, place.training(run, {"run.steps=3", "weights.from=" + place / from})));
  };
  train_from("tiny_llama_lora", "of_model", "model");
  CHECK(base_of("of_model", "adapters_of_model") == place / "model");
  train_from("tiny_llama", "tuned", "model");
  // A run that is resumed has the weights that it began with, whatever weights.from says by then.
  const ProcessResult resumed =
      run_program("tiny_llama_lora", place.training("of_model", {"run.steps=4", "checkpoint.resume=auto",
                                                                 "weights.from=" + place / "tuned"}));
  check_success(resumed);
  CHECK(contains(resumed.out, "this one is resumed, and began with \"" + place / "model" + "\""));
  CHECK(base_of("of_model", "adapters_of_resumed") == place / "model");
  train_from("tiny_llama_lora", "of_tuned", "tuned");
  CHECK(base_of("of_tuned", "adapters_of_tuned").is_null());
  train_from("tiny_llama_lora", "further_of_tuned", "of_tuned");
  CHECK(base_of("further_of_tuned", "adapters_of_further_of_tuned").is_null());
  check_success(
      run_program("tiny_llama_lora", place.training("larger", {"run.steps=3", "weights.from=" + place / "model",
                                                               "weights.vocabulary=mean"})));
  CHECK(base_of("larger", "adapters_of_larger").is_null());
}

}  // namespace

TEST_CASE("export and import: the same bits come back, with the tokeniser, and go on travelling") {
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama"}) {
    CAPTURE(recipe);
    const Exported place(recipe);
    CHECK(fs::exists(place / "model/tokenizer.json"));
    CHECK(contains(read_bytes(place / "model/tokenizer_config.json"), "PreTrainedTokenizerFast"));
    CHECK(Json::parse(read_bytes(place / "model/config.json")).at("eos_token_id").is_number_integer());
    write_bytes(place / "model/chat_template.jinja", "a template");
    check_success(place.run({"import", place / "model", "--output", place / "imported"}));
    CHECK(digest(place / "imported") == digest(place / "run"));
    CHECK(place.run({"evaluate", "--checkpoint", place / "imported", "--data", place / "held_out.pbin"}).out ==
          place.run({"evaluate", "--checkpoint", place / "run"}).out);
    const Arguments prompt{"--prompt", "First", "--greedy", "--max-tokens", "5"};
    CHECK(place.run(with(Arguments{"generate", "--checkpoint", place / "imported"}, prompt)).out ==
          place.run(with(Arguments{"generate", "--checkpoint", place / "run"}, prompt)).out);
    check_success(place.run({"export", "--checkpoint", place / "imported", "--output", place / "again"}));
    for (const std::string file : {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"}) {
      CAPTURE(file);
      CHECK(read_bytes(place / ("again/" + file)) == read_bytes(place / ("model/" + file)));
    }
  }
}

TEST_CASE("an export or import that fails leaves nothing that is taken for a model or a run") {
  const Exported place("tiny_llama");
  write_bytes(place / "run/chat_template.jinja", std::string(3 << 20, ' '));
  const auto limited = [&](const Arguments& arguments) {
    return run_process(
        with(Arguments{"bash", "-c", "ulimit -f 2048 && exec \"$@\"", "bash"}, command(place, arguments)));
  };
  check_refusal(limited({"export", "--checkpoint", place / "run", "--output", place / "cut_short"}), 1,
                {"[FILE-06]", "chat_template.jinja"});
  CHECK_FALSE(fs::exists(place / "cut_short"));
  fs::create_directory(place / "cut_short");
  write_bytes(place / "cut_short/README.md", "mine");
  check_refusal(limited({"export", "--checkpoint", place / "run", "--output", place / "cut_short"}), 1, {"[FILE-06]"});
  CHECK(read_bytes(place / "cut_short/README.md") == "mine");
  fs::remove(place / "cut_short/README.md");
  CHECK(fs::is_empty(place / "cut_short"));

  write_bytes(place / "model/chat_template.jinja", std::string(3 << 20, ' '));
  const Arguments import{"import", place / "model", "--output", place / "imported"};
  check_refusal(limited(import), 1, {"[FILE-06]", "chat_template.jinja"});
  CHECK_FALSE(fs::exists(place / "imported"));
  fs::create_directory(place / "imported");
  check_refusal(limited(import), 1, {"[FILE-06]"});
  CHECK(fs::is_empty(place / "imported"));
  check_success(place.run(import));
  CHECK(digest(place / "imported") == digest(place / "run"));
}

TEST_CASE("added tokens for which a model has no rows, as of images, are ordinary text, and stay in its files") {
  const Exported place("tiny_llama");
  add_tokens_without_rows(place / "model/tokenizer.json");
  check_success(place.run({"import", place / "model", "--output", place / "imported"}));
  const auto of_imported = [&](const std::string& word, const Arguments& more) {
    const ProcessResult result = place.run(with(Arguments{word, "--checkpoint", place / "imported"}, more));
    check_tells_left_out(result);
    return result;
  };
  of_imported("evaluate", {"--data", place / "held_out.pbin", "--ranks", "2"});
  of_imported("generate", {"--prompt", "First", "--max-tokens", "3", "--samples", "2", "--ranks", "2"});
  const ProcessResult scored = of_imported("score", {"--text", "<sound>"});
  std::string text;
  const Json scores = Json::parse(scored.out);
  for (const Json& token : scores.at("tokens")) text += token.at("token").get<std::string>();
  CHECK(text == "<sound>");
  CHECK(scores.at("tokens").size() > 1);
  const ProcessResult tuned = place.train("tuned", {"weights.from=" + place / "imported", "run.steps=4",
                                                    "data.tokenizer=" + place / "imported/tokenizer.json"});
  check_success(tuned);
  CHECK(contains(tuned.out, tokens_left_out));
  check_tells_left_out(place.run({"export", "--checkpoint", place / "tuned", "--output", place / "again"}));
  CHECK(read_bytes(place / "again/tokenizer.json") == read_bytes(place / "model/tokenizer.json"));
  const ProcessResult in_gguf = place.run({"export", "--checkpoint", place / "tuned", "--gguf", place / "model.gguf"});
  check_success(in_gguf);
  CHECK(contains(in_gguf.err, tokens_left_out));
}

TEST_CASE("a model without rows for what its chat template writes into every chat does not chat") {
  const Exported place("tiny_llama");
  add_tokens_without_rows(place / "model/tokenizer.json");
  const auto command_with = [&](const std::string& word, const Arguments& more) {
    const std::string tokenizer = place / "model/tokenizer.json";
    return command(place, with(Arguments{word, "--checkpoint", place / "run", "--tokenizer", tokenizer}, more));
  };
  const auto chat = [&](const Arguments& more) {
    return run_process(
        bash("printf 'First\\n' | \"$@\"", command_with("chat", with(Arguments{"--max-tokens", "3"}, more))));
  };
  const Arguments serve = command_with("serve", {"--port", "0", "--quiet"});
  write_bytes(place / "model/chat_template.jinja",  // as Gemma 3's, with its token for images
              "{% for m in messages %}{{ '<image_soft_token>' if m.image }}{{ m.content }}{% endfor %}");
  check_tells_left_out(chat({}));
  Process server(serve);
  url_of(server);
  server.signal(SIGTERM);
  check_tells_left_out(server.wait(std::chrono::seconds(20)));

  const std::string other = place / "other.jinja";
  write_bytes(other, read_bytes(place / "model/chat_template.jinja"));
  write_bytes(place / "model/chat_template.jinja", "{% for m in messages %}{{ m.content }}<sound>{% endfor %}");
  const std::vector<std::string> refused{"[CHAT-02]", "\"<sound>\"", "its id 513 is beyond", "--template"};
  check_refusal(chat({}), 2, refused);
  check_refusal(run_process(with(Arguments{"timeout", "60"}, serve)), 2, refused);
  check_tells_left_out(chat({"--template", other}));
  check_tells_left_out(run_process(command_with("generate", {"--prompt", "First", "--max-tokens", "3"})));
}

TEST_CASE("what lies beside a model's tokeniser goes with a run that trains from it, into chat and export") {
  const Exported place("tiny_llama");
  const std::string words = "{% for m in messages %}{{ m.content }}{% endfor %}";
  write_bytes(place / "model/chat_template.jinja", words);
  write_bytes(place / "model/generation_config.json", R"({"eos_token_id": [3, 5]})");
  const std::string of_tools = "additional_chat_templates/tool_use.jinja";
  fs::create_directory(place / "model/additional_chat_templates");
  write_bytes(place / "model/" + of_tools, "{{ tools }}" + words);
  check_success(place.run({"import", place / "model", "--output", place / "imported"}));
  check_success(place.train("tuned", {"weights.from=" + place / "imported",
                                      "data.tokenizer=" + place / "imported/tokenizer.json", "run.steps=4"}));
  CHECK(read_bytes(place / "tuned/chat_template.jinja") == words);
  const Arguments arguments{"chat", "--checkpoint", place / "tuned", "--greedy", "--max-tokens", "3"};
  check_success(run_process(bash("printf 'First\\n' | \"$@\"", command(place, arguments))));
  check_success(place.run({"export", "--checkpoint", place / "tuned", "--output", place / "again"}));
  for (const std::string& file : {std::string("chat_template.jinja"), std::string("generation_config.json"),
                                  std::string("tokenizer_config.json"), of_tools}) {
    CAPTURE(file);
    CHECK(read_bytes(place / ("again/" + file)) == read_bytes(place / ("model/" + file)));
  }
}

TEST_CASE(
    "a SentencePiece model beside weights keeps its name, and is the tokeniser there, in a run and in its export") {
  const Exported place("tiny_llama");
  std::string model = piece("<unk>", 0, 2) + piece("\u2581", -1, 1);
  for (char letter = 'a'; letter <= 'z'; ++letter) model += piece(std::string(1, letter), -2, 1);
  for (int id = 28; id < 512; ++id) model += piece("<" + std::to_string(id) + ">", -20, 1);  // as many as the data has
  fs::remove(place / "model/tokenizer.json");
  fs::remove(place / "model/tokenizer_config.json");
  write_bytes(place / "model/tokenizer.model", model);
  check_success(place.run({"import", place / "model", "--output", place / "imported"}));
  const auto tokens_of = [&](const std::string& run) {
    const ProcessResult result = place.run({"score", "--checkpoint", place / run, "--text", "first citizen"});
    check_success(result);
    std::vector<Json> offsets;
    const Json scored = Json::parse(result.out);
    for (const Json& token : scored.at("tokens")) offsets.push_back(token.at("offset"));
    return offsets;
  };
  const auto tokens = tokens_of("imported");
  CHECK(tokens.size() > 3);
  check_success(place.train("tuned", {"weights.from=" + place / "imported", "run.steps=4",
                                      "data.tokenizer=" + place / "imported/tokenizer.model"}));
  CHECK(tokens_of("tuned") == tokens);
  CHECK(read_bytes(place / "tuned/tokenizer.model") == model);
  CHECK_FALSE(fs::exists(place / "tuned/tokenizer.json"));
  check_success(place.run({"export", "--checkpoint", place / "tuned", "--output", place / "again"}));
  CHECK(read_bytes(place / "again/tokenizer.model") == model);
  CHECK_FALSE(fs::exists(place / "again/tokenizer.json"));
}

TEST_CASE("a run starts from weights wherever they are, on any number of ranks, with all else new") {
  const Exported place("tiny_llama");
  REQUIRE(place.run({"import", place / "model", "--output", place / "imported"}).exit_code == 0);
  std::string first;
  for (const std::string from : {"run", "model", "imported"}) {
    CAPTURE(from);
    const ProcessResult result = place.train("from_" + from, {"weights.from=" + place / from, "run.steps=3"});
    check_success(result);
    CHECK(contains(result.out, "all else begins anew"));
    const std::string state = final_state(place / ("from_" + from));
    CHECK(state == (first.empty() ? first = state : first));
  }
  for (const std::string ranks : {"1", "2"})
    check_success(place.run(with(place.training("tree_" + ranks, {"weights.from=" + place / "model", "run.steps=3",
                                                                  "batch.reduction=fixed_tree", "batch.micro_batch=4"}),
                                 {"--ranks", ranks})));
  CHECK(final_state(place / "tree_1") == final_state(place / "tree_2"));

  // A run that is interrupted goes on from its own checkpoint, not from the weights.
  const ProcessResult resumed =
      place.train("from_model", {"weights.from=" + place / "model", "run.steps=4", "checkpoint.resume=auto"});
  check_success(resumed);
  CHECK(contains(resumed.out, "resumed after step 3"));
  CHECK_FALSE(contains(resumed.out, "all else begins anew"));
}

TEST_CASE("adapters are trained beside a run's weights, which keep their bits, and travel alone or merged") {
  const Exported place("tiny_llama");
  const auto adapt = [&](const std::string& name, const std::string& ranks) {
    const std::vector<std::string> sets{"weights.from=" + place / "run", "run.steps=40", "optimizer.lr=0.01",
                                        "batch.reduction=fixed_tree"};
    const ProcessResult result = run_program("tiny_llama_lora", with(place.training(name, sets), {"--ranks", ranks}));
    check_success(result);
    return result.out;
  };
  CHECK(contains(adapt("adapted", "1"), "adapters begin anew"));
  adapt("on_two", "2");
  CHECK(final_state(place / "adapted") == final_state(place / "on_two"));
  std::istringstream before(digest(place / "run"));
  const std::string after = digest(place / "adapted");
  for (std::string line; std::getline(before, line);)
    if (contains(line, ".weight")) CHECK(contains(after, line));
  CHECK(held_out_loss(place / "adapted") < held_out_loss(place / "run") - 0.1);

  check_that_adapters_travel(place, "tiny_llama_lora");
  check_that_adapters_name_their_base(place);
  const Arguments export_run{"export", "--checkpoint", place / "adapted", "--output"};
  check_refusal(place.run({"export", "--checkpoint", place / "run", "--adapter", "--output", place / "none"}), 2,
                {"[ADAPTER-04]"});
  check_refusal(run_program("tiny_llama_lora", {"import", place / "model", "--output", place / "none"}), 2,
                {"[ADAPTER-05]", "--adapter"});
  check_refusal(run_program("tiny_llama_lora", with(export_run, {place / "none", "--adapter", "--file-size", "5"})), 2,
                {"[RUN-13]"});
  check_refusal(place.train("onto", {"weights.from=" + place / "adapted"}), 2, {"[WEIGHTS-09]", "merges adapters"});
  CHECK_FALSE(fs::exists(place / "none"));
}

TEST_CASE("adapters are trained beside a run's weights in NF4, on any number of ranks and across an interruption") {
  const Exported place("tiny_llama");
  const auto adapt = [&](const std::string& name, const std::string& ranks, std::vector<std::string> more) {
    for (const char* set : {"optimizer.lr=0.01", "batch.reduction=fixed_tree", "schedule.kind=constant"})
      more.emplace_back(set);
    more.push_back("weights.from=" + place / "run");
    const ProcessResult result = run_program("tiny_llama_qlora", with(place.training(name, more), {"--ranks", ranks}));
    check_success(result);
    return result.out;
  };
  CHECK(contains(adapt("adapted", "1", {"run.steps=40"}), "adapters begin anew"));
  adapt("on_two", "2", {"run.steps=20"});
  CHECK(contains(adapt("on_two", "1", {"run.steps=40", "checkpoint.resume=auto"}), "resumed after step 20"));
  CHECK(final_state(place / "adapted") == final_state(place / "on_two"));
  CHECK(held_out_loss(place / "adapted") < held_out_loss(place / "run") - 0.1);
  check_that_adapters_travel(place, "tiny_llama_qlora");
}

TEST_CASE("weights of another recipe: what may differ is said by name, and all else refused by name") {
  const Exported place("tiny_llama");
  for (const std::string from : {"run", "model"}) {
    CAPTURE(from);
    const ProcessResult documents =
        run_program("tiny_documents",
                    place.training("documents_" + from, {"weights.from=" + place / from, "run.steps=3"}));
    check_success(documents);
    CHECK(contains(documents.out, "attention is monomorph::attention::Causal there") == (from == "run"));
    CHECK(metric(place / ("documents_" + from), "loss").size() == 3);
    check_refusal(run_program("tiny_mixture", place.training("mixture", {"weights.from=" + place / from})), 2,
                  {from == "run" ? "[WEIGHTS-08]" : "[WEIGHTS-01]", "ixture"});
    CHECK_FALSE(fs::exists(place / "mixture/metrics.jsonl"));
  }
  const ProcessResult hybrid =
      run_program("tiny_llama_hybrid", with(place.training("hybrid", {"weights.from=" + place / "model", "run.steps=3",
                                                                      "batch.micro_batch=2"}),
                                            {"--ranks", "4"}));
  check_success(hybrid);
  CHECK(contains(hybrid.out, "weights from"));
}

TEST_CASE("what decides how weights are trained may differ, and is said by name, of a run as of a folder") {
  const Exported place("tiny_gpt2");
  const auto said = [&](const std::string& recipe, const std::string& from) {
    const ProcessResult result =
        run_program(recipe, with(Arguments{"check"}, place.training("checked", {"weights.from=" + from})));
    check_success(result);
    return result.out;
  };
  const std::string of_run = said("tiny_gpt2_fp16", place / "run");
  CHECK(contains(of_run, "precision is monomorph::precision::Fp32 there, and monomorph::precision::Fp16Mixed here"));
  CHECK_FALSE(contains(of_run, "optimizer is"));
  CHECK_FALSE(contains(of_run, "dropout"));
  CHECK_FALSE(contains(said("tiny_gpt2", place / "run"), " there, and "));
  const std::string folder = place.with_config([](Json& config) {
    config["attn_pdrop"] = 0.25;
    config["torch_dtype"] = "bfloat16";
  });
  const std::string of_attention =
                        "of the weights in " + folder + ", model.dropout.attention is 0.25 there, and 0 here",
                    of_dtype = "of the weights in " + folder + ", state_dtype is bf16 there, and fp32 here";
  const std::string of_folder = said("tiny_gpt2", folder);
  const ProcessResult trained = place.train("trained", {"weights.from=" + folder, "run.steps=3"}),
                      imported = place.run({"import", folder, "--output", place / "imported"});
  check_success(trained);
  check_success(imported);
  for (const std::string& told : {of_folder, trained.out, imported.err}) {
    CHECK(contains(told, of_attention));
    CHECK(contains(told, of_dtype));
    CHECK_FALSE(contains(told, "model.dropout.residual"));
  }
}

TEST_CASE("exports, means and texts have the tokeniser of the run, wherever its checkpoints lie") {
  const Workplace place("tiny_gpt2");
  const std::pair<std::string, std::string> folders[] = {{".", "in_run"},
                                                         {"a/b", "below/a/b"},
                                                         {place / "elsewhere", "elsewhere"}};
  for (const auto& [directory, checkpoints] : folders) {
    CAPTURE(directory);
    const std::string run = directory == "." ? "in_run" : directory == "a/b" ? "below" : "apart";
    check_success(place.train(run, {"run.steps=3", "checkpoint.every=1", "checkpoint.keep=all",
                                    "checkpoint.directory=" + directory}));
    const std::string at = place / checkpoints;
    check_success(place.run({"export", "--checkpoint", at, "--output", place / (run + "_model")}));
    CHECK(fs::exists(place / (run + "_model/tokenizer.json")));
    check_success(run_program("monomorph-checkpoint", {"average", at + "/step_00000001", at + "/step_00000002",
                                                       "--output", place / (run + "_mean")}));
    CHECK(fs::exists(place / (run + "_mean/tokenizer.json")));
    check_success(
        place.run({"export", "--checkpoint", place / (run + "_mean"), "--output", place / (run + "_of_mean")}));
    CHECK(fs::exists(place / (run + "_of_mean/tokenizer.json")));
  }
}

TEST_CASE("weights alone can't be resumed from, and weights.from must name weights") {
  const Exported place("tiny_gpt2");
  REQUIRE(place.run({"import", place / "model", "--output", place / "imported"}).exit_code == 0);
  check_refusal(place.train("resumed", {"checkpoint.resume=" + place / "imported"}), 2,
                {"[WEIGHTS-10]", "weights.from"});
  for (const std::string command : {"check", "train"}) {
    CAPTURE(command);
    Arguments arguments = place.training("nowhere", {"weights.from=" + place / "nowhere"});
    if (command == "check") arguments.insert(arguments.begin(), command);
    check_refusal(place.run(arguments), 2, {"[RUN-03]", "nowhere", "config.json", "weights.from"});
    CHECK_FALSE(fs::exists(place / "nowhere"));
  }
  const ProcessResult checked =
      place.run(with(Arguments{"check"}, place.training("checked", {"weights.from=" + place / "model"})));
  check_success(checked);
  CHECK(contains(checked.out, "starts from the weights in"));
}

TEST_CASE("a run is exported as a file for llama.cpp, with its tokeniser, or refused") {
  const Exported place("tiny_llama");
  const Arguments export_run{"export", "--checkpoint", place / "run"};
  write_bytes(place / "run/tokenizer_config.json", R"({"chat_template": "{{ messages }} as a chat"})");
  check_success(place.run(with(export_run, {"--gguf", place / "model.gguf"})));
  const std::string file = read_bytes(place / "model.gguf");
  CHECK(file.starts_with("GGUF"));
  for (const std::string part : {"tokenizer.ggml.merges", "tokenizer.ggml.eos_token_id", "{{ messages }} as a chat"})
    CHECK(contains(file, part));
  write_bytes(place / "run/tokenizer_config.json", R"({"eos_token": "<none>"})");
  check_refusal(place.run(with(export_run, {"--gguf", place / "a"})), 2, {"[RUN-29]", "<none>"});
  check_refusal(place.run(export_run), 2, {"[RUN-13]", "--gguf"});
  check_refusal(place.run(with(export_run, {"--gguf", place / "a", "--output", place / "b"})), 2, {"[RUN-13]"});
  check_refusal(place.run(with(export_run, {"--gguf", place / "a", "--file-size", "1"})), 2, {"[RUN-13]"});
  CHECK_FALSE(fs::exists(place / "a"));

  // A tokeniser that llama.cpp lacks.
  const std::string tokenizer = place / "run/tokenizer.json";
  Json definition = Json::parse(read_bytes(tokenizer));
  definition["normalizer"] = {{"type", "Lowercase"}};
  write_bytes(tokenizer, definition.dump());
  check_refusal(place.run(with(export_run, {"--gguf", place / "a"})), 2, {"[GGUF-02]", "normalizers other than NFC"});
  definition["normalizer"] = {{"type", "NFC"}};
  write_bytes(tokenizer, definition.dump());
  write_bytes(place / "run/tokenizer_config.json", "{}");
  const ProcessResult noted = place.run(with(export_run, {"--gguf", place / "normalized.gguf"}));
  CHECK(noted.exit_code == 0);
  CHECK(is_one_line(noted.err));
  CHECK(contains(noted.err, "form NFC"));
  CHECK_FALSE(fs::exists(place / "a"));
}

TEST_CASE("special tokens of a model's config.json come back in its export, as they are and by way of a run") {
  const Exported place("tiny_llama");
  const Json ids{{"bos_token_id", 7}, {"eos_token_id", {3, 5}}, {"pad_token_id", nullptr}};
  const std::string model = place.with_config([&](Json& config) { config.update(ids); });
  const auto exported_ids = [&](const std::string& run) {
    fs::remove_all(place / "again");
    check_success(place.run({"export", "--checkpoint", place / run, "--output", place / "again"}));
    CHECK_FALSE(fs::exists(place / "again/special_token_ids.json"));
    const Json config = Json::parse(read_bytes(place / "again/config.json"));
    Json found;
    for (const auto& [key, value] : ids.items())
      if (config.contains(key)) found[key] = config[key];
    return found;
  };
  check_success(place.run({"import", model, "--output", place / "imported"}));
  CHECK(exported_ids("imported") == ids);
  for (const std::string from : {"imported", "changed"}) {
    CAPTURE(from);
    check_success(place.train("from_" + from, {"weights.from=" + place / from, "run.steps=3",
                                               "data.tokenizer=" + place / from + "/tokenizer.json"}));
    CHECK(exported_ids("from_" + from) == ids);
  }

  // Without a config.json to keep them from, other files say which they are: tokens, objects of them, ids.
  const auto token = [&](int id) {
    const Json vocabulary = Json::parse(read_bytes(place / "run/tokenizer.json"))["model"]["vocab"];
    for (const auto& [text, number] : vocabulary.items())
      if (number == id) return text;
    return std::string();
  };
  write_bytes(place / "run/special_tokens_map.json",
              Json{{"bos_token", token(9)}, {"pad_token", {{"content", token(4)}}}}.dump());
  write_bytes(place / "run/generation_config.json", R"({"eos_token_id": [6, 8]})");
  CHECK(exported_ids("run") == Json{{"bos_token_id", 9}, {"eos_token_id", {6, 8}}, {"pad_token_id", 4}});
  write_bytes(place / "run/generation_config.json", R"({"eos_token_id": [6, 100000]})");
  check_refusal(place.run({"export", "--checkpoint", place / "run", "--output", place / "none"}), 2,
                {"[RUN-29]", "generation_config.json", "100000"});
  for (const Json& value : {Json("</s>"), Json(true), Json({1, "a"}), Json(1.5)}) {
    CAPTURE(value);
    const std::string broken = place.with_config([&](Json& config) { config["eos_token_id"] = value; });
    check_refusal(place.run({"import", broken, "--output", place / "none"}), 2, {"[WEIGHTS-03]", "eos_token_id"});
  }
  CHECK_FALSE(fs::exists(place / "none"));
}

TEST_CASE("export is refused where it can't be, and never writes over a model") {
  const Exported place("tiny_gpt2");
  check_refusal(place.run({"export", "--checkpoint", place / "run", "--output", place / "model"}), 2,
                {"[WEIGHTS-06]", "model"});
  check_refusal(place.run({"export", "--checkpoint", place / "nowhere", "--output", place / "other"}), 2, {"[RUN-03]"});
  check_refusal(place.run({"export", "--checkpoint", place / "run", "--output", place / "other", "--dtype", "int8"}), 2,
                {"[RUN-13]", "int8"});
  const Arguments to_other{"export", "--checkpoint", place / "run", "--output", place / "other", "--model-type"};
  check_refusal(place.run(with(to_other, {"mamba"})), 2, {"[RUN-13]", "mamba", "gpt2"});
  check_refusal(place.run(with(to_other, {"bert"})), 2, {"[WEIGHTS-01]", "tiny_gpt2 can't be a bert: "});
  check_refusal(place.run(with(to_other, {"gpt2", "--adapter"})), 2, {"[RUN-13]", "--model-type"});
  check_refusal(run_program("tiny_llama", {"export", "--checkpoint", place / "run", "--output", place / "other"}), 2,
                {"[RUN-04]"});
  CHECK_FALSE(fs::exists(place / "other"));
  check_refusal(place.run({"import", place / "model", "--output", place / "run"}), 2, {"[WEIGHTS-06]", "run"});
}

TEST_CASE("import refuses a config.json that is broken, of another model, or beyond what recipes can be") {
  const Exported place("tiny_llama");
  place.check_import_refused(place / "run", {"[WEIGHTS-02]", "config.json"});
  place.check_import_refused(place.changed("config.json", [](const std::string& text) { return text.substr(0, 20); }),
                             {"[WEIGHTS-03]", "JSON"});
  place.check_import_refused(
      place.changed("config.json", [](const std::string& text) { return "{\"hidden_size\": 1," + text.substr(1); }),
      {"[WEIGHTS-03]", "hidden_size", "twice"});
  const auto refused = [&](const std::string& key, const Json& value, const std::vector<std::string>& parts) {
    CAPTURE(key);
    place.check_import_refused(place.with_config([&](Json& config) { config[key] = value; }), parts);
  };
  refused("model_type", "mamba", {"[WEIGHTS-02]", "mamba", "gpt2, llama"});
  refused("model_type", 7, {"[WEIGHTS-02]"});
  refused("hidden_size", "64", {"[WEIGHTS-03]", "hidden_size"});
  refused("rope_scaling", {{"rope_type", "llama3"}}, {"[WEIGHTS-03]", "rope_scaling"});
  refused("rope_scaling", {{"rope_type", "longrope"}, {"factor", 4}}, {"[WEIGHTS-04]", "rope_scaling", "longrope"});
  refused("rope_scaling", {{"rope_type", "linear"}, {"factor", 0}}, {"[WEIGHTS-04]", "its factor must be at least 1"});
  refused("rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}, {"[WEIGHTS-08]", "model.rotary.linear.factor"});
  refused("rope_theta", -1, {"[WEIGHTS-04]", "rope_theta"});
  place.check_import_refused(place.changed("config.json",
                                           [](const std::string& text) {
                                             const std::string number = "1e-05";
                                             return std::string(text).replace(text.find(number), number.size(), "NaN");
                                           }),
                             {"[WEIGHTS-03]", "JSON"});
  refused("num_attention_heads", 4.5, {"[WEIGHTS-03]", "num_attention_heads"});
  refused("num_attention_heads", 0, {"[WEIGHTS-04]", "num_attention_heads"});
  refused("hidden_size", std::uint64_t{1} << 63, {"[WEIGHTS-04]", "hidden_size"});
  place.check_import_refused(place.with_config([](Json& config) {
    for (int i = 0; i < 1000; ++i) config["key " + std::to_string(i)] = i;
  }),
                             {"[WEIGHTS-04]", "and 976 more"});
  refused("hidden_act", "gelu", {"[WEIGHTS-04]", "hidden_act"});
  refused("quantization_config", {{"bits", 4}}, {"[WEIGHTS-04]", "quantization_config"});
  refused("hidden_size", 128, {"[WEIGHTS-08]", "model.d_model is 128 there, and 64 here"});
  refused("rms_norm_eps", 1e-6, {"[WEIGHTS-08]", "model.norm.epsilon"});
  place.check_import_refused(place.with_config([](Json& config) {
    config["model_type"] = "qwen3";
    config.erase("mlp_bias");
  }),
                             {"[WEIGHTS-08]", "model.qk_norm is true there, and false here"});
  refused("use_mrope", true, {"[WEIGHTS-04]", "use_mrope"});
  place.check_import_refused(place.with_config([](Json& config) { config.erase("num_hidden_layers"); }),
                             {"[WEIGHTS-03]", "num_hidden_layers"});
}

TEST_CASE("import refuses weights that are cut short, missing, of another shape, or not where an index may point") {
  const Exported place("tiny_llama");
  const std::string weights = "model.safetensors", index = "model.safetensors.index.json";
  place.check_import_refused(place.changed(weights, [](const std::string& bytes) { return bytes.substr(0, 5000); }),
                             {"[SAFETENSORS-0", weights});
  place.check_import_refused(place.changed(weights, [](std::string bytes) { return bytes.replace(0, 8, 8, '\x7f'); }),
                             {"[SAFETENSORS-01]", weights});
  const auto renamed = [](const std::string& from, const std::string& to) {
    return [=](std::string bytes) { return bytes.replace(bytes.find(from), from.size(), to); };
  };
  place.check_import_refused(place.changed(weights, renamed("layers.1.mlp.up_proj", "layers.1.mlp.XX_proj")),
                             {"[WEIGHTS-09]", "layers.1.mlp.up.weight is missing", "XX_proj.weight\" is not used"});
  place.check_import_refused(place.changed(weights, renamed("\"shape\":[512,64]", "\"shape\":[64,512]")),
                             {"[WEIGHTS-09]", "is [64, 512] and must be [512, 64]"});
  place.check_import_refused(place.changed(weights, renamed("\"F32\"", "\"I32\"")), {"[WEIGHTS-07]", "I32"});

  // The same weights in one of several files.
  const auto with_index = [&](const std::string& text) {
    fs::remove_all(place / "indexed");
    fs::copy(place / "model", place / "indexed", fs::copy_options::recursive);
    fs::rename(place / ("indexed/" + weights), place / "indexed/part.safetensors");
    write_bytes(place / ("indexed/" + index), text);
    return place / "indexed";
  };
  fs::copy(place / ("model/" + weights), place / "outside.safetensors");
  for (const std::string name : {"../outside.safetensors", "/etc/passwd", "part.bin", ".hidden.safetensors", ""}) {
    CAPTURE(name);
    place.check_import_refused(with_index(Json{{"weight_map", {{"lm_head.weight", name}}}}.dump()),
                               {"[WEIGHTS-05]", index});
  }
  place.check_import_refused(with_index("{}"), {"[WEIGHTS-05]", "weight_map"});
  place.check_import_refused(with_index("{\"weight_map\": {\"a\": \"part.safetensors\", \"a\": \"b.safetensors\"}}"),
                             {"[WEIGHTS-05]", "twice"});
  place.check_import_refused(with_index(Json{{"weight_map", {{"lm_head.weight", "part.safetensors"}}}}.dump()),
                             {"[WEIGHTS-05]", "does not lie where"});
  place.check_import_refused(with_index(Json{{"weight_map", {{"none", "part.safetensors"}}}}.dump()),
                             {"[WEIGHTS-05]", "none"});
  place.check_import_refused(with_index(Json{{"weight_map", {{"none", "gone.safetensors"}}}}.dump()),
                             {"[FILE-01]", "gone.safetensors"});
  fs::remove(place / ("indexed/" + index));
  place.check_import_refused(place / "indexed", {"[WEIGHTS-05]", index});
}

TEST_CASE("a link that leads out of a model's folder is refused, whichever file it is, before anything is written") {
  const Exported place("tiny_llama");
  write_bytes(place / "secret", "the content of no file of a model");
  const auto with_link = [&](const std::string& name, const std::string& target) {
    fs::remove_all(place / "changed");
    fs::copy(place / "model", place / "changed", fs::copy_options::recursive);
    fs::remove(place / ("changed/" + name));
    fs::create_symlink(target, place / ("changed/" + name));
    return place / "changed";
  };
  for (const std::string name :
       {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
        "chat_template.json", "generation_config.json", "merges.txt", "additional_chat_templates"}) {
    CAPTURE(name);
    place.check_import_refused(with_link(name, "../secret"), {"[FILE-07]", "changed/" + name, place / "secret"});
  }
  place.check_import_refused(with_link("chat_template.jinja", "nothing"), {"[FILE-07]", "chat_template.jinja"});
  check_refusal(run_program("monomorph-checkpoint", {"recipe", with_link("config.json", place / "model/config.json")}),
                2, {"[FILE-07]", "config.json"});
  check_refusal(place.train("linked", {"weights.from=" + with_link("model.safetensors", "../model/model.safetensors")}),
                2, {"[FILE-07]", "model.safetensors", "weights.from"});
  check_refusal(place.train("linked",
                            {"data.tokenizer=" + with_link("chat_template.jinja", "../secret") + "/tokenizer.json"}),
                2, {"[FILE-07]", "chat_template.jinja", "data.tokenizer"});
  CHECK_FALSE(fs::exists(place / "linked/hparams.json"));

  // A file of an index, and adapters.
  fs::rename(place / "changed/model.safetensors", place / "part.safetensors");
  fs::create_symlink("../part.safetensors", place / "changed/part.safetensors");
  fs::remove(place / "changed/chat_template.jinja");
  write_bytes(place / "changed/model.safetensors.index.json",
              Json{{"weight_map", {{"lm_head.weight", "part.safetensors"}}}}.dump());
  place.check_import_refused(place / "changed", {"[FILE-07]", "part.safetensors"});
  fs::create_directory(place / "adapters");
  const auto check_adapters = [&](const std::string& file) {
    fs::create_symlink("../secret", place / ("adapters/" + file));
    check_refusal(run_program("tiny_llama_lora", {"import", place / "model", "--adapter", place / "adapters",
                                                  "--output", place / "imported"}),
                  2, {"[FILE-07]", file});
    fs::remove(place / ("adapters/" + file));
  };
  check_adapters("adapter_config.json");
  write_bytes(place / "adapters/adapter_config.json", R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8})");
  check_adapters("adapter_model.safetensors");
}

TEST_CASE("a snapshot in the cache of Hugging Face's hub, which is made of links, is imported, and copied as files") {
  const Exported place("tiny_llama");
  const std::string model = "hub/models--somebody--a_model", snapshot = model + "/snapshots/0123abcd";
  fs::create_directories(place / snapshot);
  fs::create_directories(place / (model + "/blobs"));
  write_bytes(place / "model/chat_template.jinja", "a template");
  for (const auto& entry : fs::directory_iterator(place / "model")) {
    const std::string name = entry.path().filename().string(), blob = "blobs/of " + name;
    fs::rename(entry.path(), place / (model + "/" + blob));
    fs::create_symlink("../../" + blob, place / (snapshot + "/" + name));
  }
  check_success(place.run({"import", place / snapshot, "--output", place / "imported"}));
  CHECK(digest(place / "imported") == digest(place / "run"));
  for (const std::string name : {"tokenizer.json", "chat_template.jinja"}) {
    CAPTURE(name);
    CHECK(fs::symlink_status(place / ("imported/" + name)).type() == fs::file_type::regular);
    CHECK(read_bytes(place / ("imported/" + name)) == read_bytes(place / (snapshot + "/" + name)));
  }
}

namespace {
const std::string sentence_fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/sentence_transformers/";

void check_embeddings(const std::string& run) {
  const Json expected = Json::parse(read_bytes(sentence_fixtures + "mean_of_bert/expected.json"));
  const TemporaryFolder folder;
  std::string texts;
  for (const Json& text : expected.at("texts")) texts += text.get<std::string>() + "\n";
  write_bytes(folder / "texts", texts);
  const ProcessResult embedded =
      run_program("mean_of_bert", {"embed", "--checkpoint", run, "--input", folder / "texts"});
  check_success(embedded);
  std::istringstream lines(embedded.out);
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const auto made = Json::parse(line).at("embedding").get<std::vector<double>>(),
               wanted = expected.at("embeddings").at(n).get<std::vector<double>>();
    REQUIRE(made.size() == wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(std::abs(made[i] - wanted[i]) < 1e-5);
  }
  CHECK(n == expected.at("texts").size());
}
}  // namespace

TEST_CASE("an encoder of sentence-transformers is imported, embeds texts as it does there, and is exported") {
  const TemporaryFolder folder;
  const auto import_to = [&](const std::string& model, const std::string& run) {
    return run_program("mean_of_bert", {"import", model, "--output", run});
  };
  const auto export_to = [&](const std::string& run, const std::string& model) {
    check_success(run_program("mean_of_bert", {"export", "--checkpoint", run, "--output", model}));
  };
  check_success(import_to(sentence_fixtures + "mean_of_bert", folder / "run"));
  check_embeddings(folder / "run");
  export_to(folder / "run", folder / "model");
  CHECK(fs::exists(folder / "model/1_Pooling/config.json"));
  check_success(import_to(folder / "model", folder / "again"));
  check_embeddings(folder / "again");

  // sentence-transformers fills up the texts of a batch, so it must know with what.
  fs::remove(folder / "run/tokenizer_config.json");
  export_to(folder / "run", folder / "with_class");
  CHECK(Json::parse(read_bytes(folder / "with_class/tokenizer_config.json")).at("pad_token") == "[PAD]");

  write_bytes(folder / "model/modules.json",
              R"([{"path": "", "type": "sentence_transformers.models.Transformer"},)"
              R"( {"path": "../1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  check_refusal(import_to(folder / "model", folder / "none"), 2, {"[WEIGHTS-14]", "../1_Pooling"});
  check_refusal(run_program("monomorph-checkpoint", {"recipe", folder / "model"}), 2, {"[WEIGHTS-14]"});
  fs::remove(folder / "with_class/1_Pooling/config.json");
  check_refusal(import_to(folder / "with_class", folder / "none"), 2, {"[FILE-01]", "1_Pooling/config.json"});
  for (const std::string name : {"1_Pooling/config.json", "1_Pooling", "modules.json"}) {
    CAPTURE(name);
    fs::remove_all(folder / ("with_class/" + name));
    fs::create_symlink(folder / ("model/" + name), folder / ("with_class/" + name));
    check_refusal(import_to(folder / "with_class", folder / "none"), 2, {"[FILE-07]", "with_class/" + name});
  }
  CHECK_FALSE(fs::exists(folder / "none"));
}

TEST_CASE("weights that are NaN are loaded, and warned of") {
  const Exported place("tiny_gpt2");
  const std::string folder = place.changed("model.safetensors", [](std::string bytes) {
    return bytes.replace(bytes.size() - 8, 8, std::string("\0\0\xc0\x7f\0\0\x80\xff", 8));  // NaN and -infinity
  });
  const ProcessResult imported = place.run({"import", folder, "--output", place / "imported"});
  CHECK(imported.exit_code == 0);
  CHECK(is_one_line(imported.err));
  CHECK(contains(imported.err, "[WEIGHTS-11]"));
  CHECK(contains(imported.err, ": 2 in "));
}

TEST_CASE("monomorph-checkpoint recipe prints the recipe of a folder's model") {
  const std::string fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/weights/";
  const auto check_printed = [](const std::string& folder, const std::string& name) {
    CAPTURE(name);
    const ProcessResult printed = run_program("monomorph-checkpoint", {"recipe", folder + name, "--name", name});
    check_success(printed);
    CHECK(printed.out == read_bytes(folder + "recipes/" + name + ".hpp"));
  };
  int printed = 0;
  for (const auto& recipe : fs::directory_iterator(fixtures + "recipes"))
    check_printed(fixtures, recipe.path().stem()), ++printed;
  CHECK(printed == 33);
  for (const std::string name : {"mean_of_bert", "last_of_roberta"}) check_printed(sentence_fixtures, name);
  check_refusal(run_program("monomorph-checkpoint", {"recipe", fixtures + "gpt2", "--name", "9 lives"}), 2,
                {"[WEIGHTS-12]", "9 lives"});
  for (const std::string taken : {"class", "model", "schedule", "device"})
    check_refusal(run_program("monomorph-checkpoint", {"recipe", fixtures + "gpt2", "--name", taken}), 2,
                  {"[WEIGHTS-12]", taken});
  check_refusal(run_program("monomorph-checkpoint", {"recipe", fixtures + "nowhere"}), 2, {"[WEIGHTS-02]"});
}
