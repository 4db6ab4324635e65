// consolidate and to-torch: all of a checkpoint in one file.
#include "commands.hpp"

#include <monomorph/train/checkpoints/single_file.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace monomorph::tools {
namespace {

using Write = train::WrittenFile (*)(runtime::CheckpointReader&, train::TensorsToWrite, const std::string&);

struct SingleFile {
  CheckpointOption checkpoint;
  std::string output;
  bool weights_only = false;

  void run(Write write) const {
    const std::string path = checkpoint.find();
    train::check_output(output, {path});
    runtime::CheckpointReader reader(path);
    const auto which = weights_only ? train::TensorsToWrite::weights : train::TensorsToWrite::all;
    const train::WrittenFile file = write(reader, which, output);
    say("{}: {} tensors of {} bytes\n", output, file.n_tensors, file.n_bytes);
  }
};

void add_command(CLI::App& program, const char* name, const char* text, Write write) {
  CLI::App* const command = program.add_subcommand(name, text);
  const auto file = std::make_shared<SingleFile>();
  file->checkpoint.add_to(*command);
  command->add_option("--output", file->output, "The file to be made")->required();
  command->add_flag("--weights-only", file->weights_only, "Leave out the optimiser's state");
  command->callback([file, write] { file->run(write); });
}

}  // namespace

void add_single_file(CLI::App& program) {
  add_command(program, "consolidate", "Write the tensors into one safetensors file, however many ranks saved them",
              train::write_consolidated);
  add_command(program, "to-torch", "Write the tensors into a file for torch.load(FILE, weights_only=True)",
              train::write_torch_file);
}

}  // namespace monomorph::tools
