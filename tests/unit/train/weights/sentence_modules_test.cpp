#include "train/weights/sentence_modules.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <vector>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

constexpr std::int64_t width = 32;

/// The files of a model with a projection, of which some are other ones.
class SentenceFolder {
 public:
  SentenceFolder() {
    for (const auto& [path, value] :
         sentence_files({.embedding = {.features = 8}, .projection = "2_Dense", .longest_text = 16}, width))
      put(path, value.dump());
  }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / path).parent_path());
    write_bytes(folder_ / path, text);
  }
  void patch(const std::string& path, const Json& patch) const {
    Json value = Json::parse(read_bytes(folder_ / path));
    value.merge_patch(patch);
    put(path, value.dump());
  }
  /// @param kinds with the path of each behind a colon
  void put_modules(const std::vector<std::pair<std::string, std::string>>& kinds) const {
    Json list = Json::array();
    for (const auto& [kind, path] : kinds) list.push_back({{"type", kind}, {"path", path}});
    put("modules.json", list.dump());
  }
  void remove(const std::string& path) const { std::filesystem::remove(folder_ / path); }
  SentenceModules read() const { return *read_sentence_modules(folder_.path(), width); }
  std::string refusal() const {
    return error_of([&] { read(); });
  }

 private:
  TemporaryFolder folder_;
};

const std::string here = "sentence_transformers.models.", transformer = here + "Transformer",
                  pooling = here + "Pooling", dense = here + "Dense", normalize = here + "Normalize";

std::string refusal_of_modules(const std::vector<std::pair<std::string, std::string>>& modules) {
  const SentenceFolder folder;
  folder.put_modules(modules);
  return folder.refusal();
}
std::string refusal_of_text(const std::string& path, const std::string& text) {
  const SentenceFolder folder;
  folder.put(path, text);
  return folder.refusal();
}
std::string refusal_of_patch(const std::string& path, const Json& patch) {
  const SentenceFolder folder;
  folder.patch(path, patch);
  return folder.refusal();
}

void check(const std::string& message, const std::string& id, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.starts_with("[" + id + "]"));
  CHECK(contains(message, part));
  CHECK_FALSE(contains(message, "\n"));
}

}  // namespace

TEST_CASE("modules of sentence-transformers are read as they are written") {
  for (const Pooling pooling : {Pooling::mean, Pooling::first, Pooling::last})
    for (const bool projects : {false, true})
      for (const bool unit_length : {false, true}) {
        CAPTURE(pooling, projects, unit_length);
        SentenceModules written{.embedding = {.pooling = pooling, .unit_length = unit_length}, .longest_text = 7};
        if (projects) written.embedding.features = 5;
        if (projects) written.projection = "2_Dense";
        const SentenceFolder folder;
        for (const auto& [path, value] : sentence_files(written, width)) folder.put(path, value.dump());
        const SentenceModules read = folder.read();
        CHECK(read.embedding.pooling == pooling);
        CHECK(read.embedding.features == written.embedding.features);
        CHECK(read.embedding.unit_length == unit_length);
        CHECK(read.projection == written.projection);
        CHECK(read.longest_text == 7);
        CHECK(read.prompt.empty());
      }
  CHECK_FALSE(read_sentence_modules(TemporaryFolder().path(), width));
}

TEST_CASE("the names of any version of sentence-transformers are read") {
  const SentenceFolder folder;
  folder.put_modules({{"sentence_transformers.base.modules.transformer.Transformer", ""},
                      {"sentence_transformers.sentence_transformer.modules.pooling.Pooling", "1_Pooling"},
                      {"sentence_transformers.base.modules.normalize.Normalize", "2_Normalize"}});
  folder.put("1_Pooling/config.json",
             R"({"embedding_dimension": 32, "pooling_mode": ["cls"], "include_prompt": true})");
  folder.put("2_Normalize/config.json", R"({"module_input_name": "sentence_embedding"})");
  folder.remove("sentence_bert_config.json");
  folder.put("sentence_xlm-roberta_config.json", R"({"max_seq_length": null})");
  folder.put("config_sentence_transformers.json",
             R"({"prompts": {"query": "query: "}, "default_prompt_name": "query", "similarity_fn_name": "dot"})");
  const SentenceModules read = folder.read();
  CHECK(read.embedding.pooling == Pooling::first);
  CHECK_FALSE(read.embedding.features.given);
  CHECK(read.embedding.unit_length);
  CHECK_FALSE(read.longest_text);
  CHECK(read.prompt == "query: ");
  folder.put("1_Pooling/config.json", "{}");  // the mean, unless it says another
  CHECK(folder.read().embedding.pooling == Pooling::mean);
}

TEST_CASE("what no recipe has of sentence-transformers is refused by its name") {
  const auto check_beyond = [](const std::string& message, const std::string& part) {
    check(message, "WEIGHTS-04", part);
  };
  const std::string pool = "1_Pooling/config.json", project = "2_Dense/config.json";
  for (const std::string mode : {"max", "weightedmean", "mean_sqrt_len_tokens", "best"})
    check_beyond(refusal_of_text(pool, Json{{"pooling_mode", mode}}.dump()), "pooling by \"" + mode + "\"");
  check_beyond(refusal_of_text(pool, R"({"pooling_mode": ["cls", "mean"]})"), "pooling by \"cls and mean\"");
  check_beyond(refusal_of_patch(pool, {{"pooling_mode_cls_token", true}}), "pooling by \"cls and mean\"");
  check_beyond(refusal_of_patch(pool, {{"temperature", 2}}), "temperature: 2");
  check_beyond(refusal_of_patch(project, {{"activation_function", "torch.nn.modules.activation.Tanh"}}),
               "activation_function: \\\"torch.nn.modules.activation.Tanh\\\"");
  check_beyond(refusal_of_patch(project, {{"activation_function", nullptr}}), "activation.Tanh");  // if left out
  check_beyond(refusal_of_patch(project, {{"bias", true}}), "bias: true");
  check_beyond(refusal_of_patch(project, {{"bias", nullptr}}), "bias: true");
  check_beyond(refusal_of_patch(project, {{"use_residual", true}}), "use_residual: true");
  check_beyond(refusal_of_patch(project, {{"module_input_name", "token_embeddings"}}), "module_input_name: ");
  check_beyond(refusal_of_patch("sentence_bert_config.json", {{"do_lower_case", true}}), "do_lower_case: true");
  check_beyond(refusal_of_patch("sentence_bert_config.json", {{"transformer_task", "fill-mask"}}), "fill-mask");
  check_beyond(refusal_of_text("modules.json", R"([{"type": "a", "path": "", "kwargs": ["task"]}])"), "kwargs: ");

  const std::pair<std::string, std::string> first{transformer, ""}, second{pooling, "1_Pooling"};
  const auto check_order = [&](const std::vector<std::pair<std::string, std::string>>& modules,
                               const std::string& kinds) {
    check_beyond(refusal_of_modules(modules), "the modules \"" + kinds + "\" (they must be Transformer, Pooling, ");
  };
  check_order({}, "");
  check_order({first}, "Transformer");
  check_order({second, first}, "Pooling, Transformer");
  check_order({first, second, {here + "LSTM", "2_LSTM"}}, "Transformer, Pooling, LSTM");
  check_order({first, second, {normalize, "2"}, {dense, "2_Dense"}}, "Transformer, Pooling, Normalize, Dense");
  check_order({first, second, {dense, "2_Dense"}, {dense, "3"}}, "Transformer, Pooling, Dense, Dense");
  check_order({first, {"my_code.Pooling", "1_Pooling"}}, "Transformer, my_code.Pooling");
  check_order({first, second, {"os\x1b[2J\n", "2"}}, "Transformer, Pooling, os\\x1b[2J\\x0a");
}

TEST_CASE("files of sentence-transformers that are broken, or lead elsewhere, are refused in one line") {
  const auto check_broken = [](const std::string& message, const std::string& part) {
    check(message, "WEIGHTS-14", part);
  };
  const std::string modules = "modules.json", pool = "1_Pooling/config.json", project = "2_Dense/config.json",
                    text = "sentence_bert_config.json", prompts = "config_sentence_transformers.json";
  for (const std::string path : {"../1_Pooling", "/etc", "..", ".", "", ".hidden", "a/b", "a\\b"}) {
    const std::string message = refusal_of_modules({{transformer, ""}, {pooling, path}});
    check_broken(message, "modules.json\" has \"Pooling\" in ");
    check_broken(message, "the name of a folder beside it");
  }
  check_broken(refusal_of_text(modules, R"([{"type": "sentence_transformers.models.Transformer", "path": ""},)"
                                        R"( {"type": "sentence_transformers.models.Pooling", "path": "1\u0000"}])"),
               "the name of a folder beside it");
  check_broken(refusal_of_modules({{transformer, "0_Transformer"}, {pooling, "1_Pooling"}}),
               "must have it beside itself");
  check_broken(refusal_of_text(modules, "{}"), "is no JSON array");
  check_broken(refusal_of_text(modules, "[1]"), "has a module that is no JSON object");
  check_broken(refusal_of_text(modules, R"([{"path": ""}])"), "has a module whose type is no text");
  check_broken(refusal_of_text(modules, R"([{"type": "a", "path": 7}])"), "has a module whose path is no text");
  check_broken(refusal_of_text(modules, R"([{"type": "a", "type": "b", "path": ""}])"), "has the key \"type\" twice");
  check_broken(refusal_of_text(modules, std::string(100'000, '[') + std::string(100'000, ']')),
               "has values that lie more than 256 deep");
  check_broken(refusal_of_text(pool, "[]"), "is no JSON object");
  check_broken(refusal_of_text(pool, R"({"pooling_mode": 7})"), "pooling_mode: 7\", which must be a name, or several");
  check_broken(refusal_of_text(pool, R"({"pooling_mode": ["cls", 7]})"), "which must be a name, or several");
  check_broken(refusal_of_text(pool, R"({"pooling_mode_cls_token": "yes"})"), "which must be true or false");
  check_broken(refusal_of_text(pool, R"({"word_embedding_dimension": 31})"),
               "which must be 32, the model's hidden_size");
  check_broken(refusal_of_text(project, "{}"), "has no in_features or no out_features");
  check_broken(refusal_of_patch(project, {{"in_features", 31}}), "which must be 32");
  for (const Json& size : {Json(0), Json(-8), Json(8.5), Json("8"), Json(std::uint64_t{1} << 63)})
    check_broken(refusal_of_patch(project, {{"out_features", size}}), "which must be a whole number from 1 on");
  check_broken(refusal_of_patch(text, {{"max_seq_length", -1}}), "which must be a whole number from 1 on");
  check_broken(refusal_of_text(text, "{\"max_seq_length\": 1e400}"), "number overflow");
  check_broken(refusal_of_text(prompts, R"({"default_prompt_name": 7})"), "which must be a name");
  check_broken(refusal_of_text(prompts, R"({"default_prompt_name": "query"})"), "has no prompt of the name \"query\"");
  check_broken(refusal_of_text(prompts, R"({"default_prompt_name": "query", "prompts": {"query": 7}})"),
               "has no prompt of the name \"query\"");
  for (const std::string& path : {pool, project}) {
    const SentenceFolder folder;
    folder.remove(path);
    check(folder.refusal(), "FILE-01", path);
  }
}
