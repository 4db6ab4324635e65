#include "train/weights/run_folder_of.hpp"
#include "../checkpoints/saved_tensors.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

/// A checkpoint that lies in `where`, of a run whose checkpoint.directory was this.
std::string saved(const std::string& where, const nlohmann::json& directory, const std::string& output_dir = "gone") {
  monomorph::runtime::CheckpointMetadata metadata = metadata_of_step(1);
  metadata.hyperparameters =
      nlohmann::json{{"checkpoint", {{"directory", directory}}}, {"run", {{"output_dir", output_dir}}}}.dump();
  return save_tensors(where, {{"w", fp32_tensor({1})}}, metadata);
}

}  // namespace

TEST_CASE("the folder of a checkpoint's run is found from where the checkpoint lies, however deep in it") {
  const auto is_found = [](const std::string& where, const std::string& directory) {
    CAPTURE(where, directory);
    const TemporaryFolder folder;
    const std::string run = folder / "run";
    CHECK(fs::equivalent(monomorph::train::run_folder_of(saved(where.empty() ? run : run + "/" + where, directory)),
                         run));
  };
  is_found("checkpoints", "checkpoints");
  is_found("checkpoints", "./checkpoints/");
  is_found("", ".");
  is_found("a/b", "a/b");
  is_found("checkpoints/abandoned_1", "checkpoints");
  is_found("abandoned_2", ".");
}

TEST_CASE("the folder of a run whose checkpoints lie elsewhere is the one that they name") {
  const TemporaryFolder folder;
  const std::string lies = folder / "elsewhere", run = folder / "run";
  CHECK(monomorph::train::run_folder_of(saved(lies + "/1", lies + "/1", run)) == run);
  CHECK(monomorph::train::run_folder_of(saved(lies + "/2", "../elsewhere/2", run)) == run);
}
