#include "train/weights/model_folder.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;
using namespace std::string_literals;

TEST_CASE("a config.json that is no JSON object is refused by what is wrong with it") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& config) {
    write_bytes(folder / "config.json", config);
    return error_of([&] { read_folder_model(folder / "."); });
  };
  CHECK(contains(error_of([&] { read_folder_model(folder / "."); }), "[WEIGHTS-02] there is no config.json"));
  CHECK(contains(refusal("[]"), "[WEIGHTS-03]"));
  CHECK(contains(refusal(R"({"model_type": "gpt2", "n_embd": 1, "n_embd": 2})"), "has the key \"n_embd\" twice"));
  CHECK(contains(refusal("{\"model_type\": \"gpt2\"}\0{}"s), "is no JSON object: there is a NUL byte (column 23)"));
  CHECK(contains(refusal("{\"model_type\": \"gpt2\",\n\"n_embd\": 1e400}"),
                 "is no JSON object: number overflow parsing '1e400' (line 2, column 15)"));
  CHECK(contains(refusal("{\"model_type\": \"gpt2\",\n"), "(line 2"));
  CHECK_THROWS_AS(read_folder_model(folder / "."), UsageError);
}

TEST_CASE("an index of weights that is no JSON object is refused by what is wrong with it") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& index) {
    write_bytes(folder / "model.safetensors.index.json", index);
    return error_of([&] { FolderTensors(folder / "."); });
  };
  CHECK(contains(error_of([&] { FolderTensors(folder / "."); }), "[WEIGHTS-05] there is neither"));
  CHECK(contains(refusal("{\"weight_map\": {}}\0"s), "there is a NUL byte (column 19)"));
  CHECK(contains(refusal(R"({"metadata": {"total_size": 1e400}, "weight_map": {}})"), "number overflow"));
  CHECK(contains(refusal(R"({"weight_map": 1})"), "has no weight_map"));
}
