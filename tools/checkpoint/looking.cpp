// inspect, digest and verify: what a checkpoint holds, and whether it is whole.
#include "commands.hpp"

#include <monomorph/core/xxh64.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

namespace monomorph::tools {
namespace {

using namespace monomorph::runtime;

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
      checkpoint.release();
      hash.update(bytes);
    }
    say("{:016x}  {:<4} [{}]  {}\n", hash.digest(), name_of(tensor.dtype), fmt::join(tensor.shape, ", "), name);
  }
}

void add_command(CLI::App& program, const char* name, const char* text, void (*action)(const std::string&)) {
  CLI::App* const command = program.add_subcommand(name, text);
  const auto checkpoint = std::make_shared<CheckpointOption>();
  checkpoint->add_to(*command);
  command->callback([checkpoint, action] { action(checkpoint->find()); });
}

}  // namespace

void add_looking(CLI::App& program) {
  add_command(program, "inspect", "Print what a checkpoint holds; sizes are checked, checksums are not", inspect);
  add_command(program, "digest", "Print the XXH64 of each tensor, the same however many ranks saved it", digest);
  add_command(program, "verify", "Read every byte of a checkpoint and compare the checksums", verify);
}

}  // namespace monomorph::tools
