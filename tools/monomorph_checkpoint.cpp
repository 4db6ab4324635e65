// monomorph-checkpoint: looks into checkpoint folders without the program that wrote them.
#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/process_setup.hpp>
#include <monomorph/core/report_failure.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/train/weights/recipe_header.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace monomorph;
using namespace monomorph::runtime;

template <class... Arguments> void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_out(fmt::format(format, std::forward<Arguments>(arguments)...));
}

void inspect(const std::string& path) {
  const CheckpointMetadata metadata = read_checkpoint_metadata(path);
  say("checkpoint       {}\n", path);
  say("step             {}\n", metadata.step);
  say("tokens           {}\n", metadata.n_tokens);
  say("sample counter   {}\n", metadata.sample_counter);
  say("ranks            {}\n", metadata.n_ranks);
  say("fingerprint      {}\n", metadata.fingerprint);
  say("of its state     {}\n", metadata.state_fingerprint);
  say("recipe           {}\n", metadata.recipe_description);
  say("hyperparameters  {}\n", metadata.hyperparameters);
  for (const auto& [name, counter] : metadata.counters) {
    std::visit([&name = name](auto value) { say("counter          {} = {}\n", name, value); }, counter);
  }
  for (const CheckpointFile& record : metadata.files) {
    say("\n{}  {} bytes\n", record.name, record.n_bytes);
    const SafetensorsFile file = SafetensorsFile::open(path + "/" + record.name);
    for (const TensorEntry& tensor : file.tensors()) {
      const auto part = file.metadata().find(tensor.name);
      say("  {:<4} [{}]  {}{}\n", name_of(tensor.dtype), fmt::join(tensor.shape, ", "), tensor.name,
          part == file.metadata().end() ? "" : "  " + part->second);
    }
  }
}

void verify(const std::string& path) {
  CheckpointReader checkpoint(path);
  checkpoint.verify();
  say("{}: complete, {} bytes in {} file(s) match their checksums\n", path, checkpoint.bytes_read(),
      checkpoint.metadata().files.size());
}

/// Whichever files hold the parts of a tensor.
void digest(const std::string& path) {
  CheckpointReader checkpoint(path);
  std::vector<std::byte> bytes;
  for (const std::string& name : checkpoint.names()) {
    const CheckpointReader::Tensor& tensor = *checkpoint.find(name);
    const auto width = static_cast<std::int64_t>(bytes_per_element(tensor.dtype));
    constexpr std::int64_t most = std::int64_t{4} << 20;  // elements at a time
    Xxh64 hash;
    for (std::int64_t first = 0; first < tensor.n_elements; first += most) {
      bytes.resize(static_cast<std::size_t>(std::min(most, tensor.n_elements - first) * width));
      checkpoint.read(name, first, bytes);
      hash.update(bytes);
    }
    say("{:016x}  {:<4} [{}]  {}\n", hash.digest(), name_of(tensor.dtype), fmt::join(tensor.shape, ", "), name);
  }
}

/// The commands run while the command line is parsed.
void run(int argc, char** argv) {
  CLI::App program{"Looks into checkpoint folders.", "monomorph-checkpoint"};
  program.require_subcommand(1);
  std::string folder;
  const auto add_command = [&](const char* name, const char* text, void (*action)(const std::string&)) {
    CLI::App* const command = program.add_subcommand(name, text);
    command->add_option("DIR", folder, "A checkpoint, a folder of them or a run folder: then the latest one")
        ->required();
    command->callback([&folder, action] { action(find_checkpoint(folder)); });
  };
  std::string name = "imported";
  CLI::App* const recipe = program.add_subcommand("recipe", "Print a recipe header for the model of a folder");
  recipe->add_option("FOLDER", folder, "A folder of a Hugging Face model, with its config.json")->required();
  recipe->add_option("--name", name, "Of the recipe")->capture_default_str();
  recipe->callback([&] { write_out(train::recipe_header(folder, name)); });
  add_command("inspect", "Print what a checkpoint holds; sizes are checked, checksums are not", inspect);
  add_command("digest", "Print the XXH64 of each tensor, the same however many ranks saved it", digest);
  add_command("verify", "Read every byte of a checkpoint and compare the checksums", verify);
  set_up_process();
  parse_command_line(program, argc, argv, "CHECKPOINT-11");
  flush_out();
}

}  // namespace

int main(int argc, char** argv) try {
  run(argc, argv);
  return static_cast<int>(ExitCode::success);
} catch (const std::exception& failure) {
  return report_failure(failure);
}
