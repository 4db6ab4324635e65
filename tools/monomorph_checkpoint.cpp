// monomorph-checkpoint: looks into checkpoint folders without the program that wrote them.
#include <monomorph/core/error.hpp>
#include <monomorph/core/hash.hpp>
#include <monomorph/runtime/checkpoint_reader.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace monomorph::runtime;

/// A folder of checkpoints stands for the latest of them.
std::string chosen_checkpoint(const std::string& folder) {
  std::vector<std::string> skipped;
  std::string path = latest_checkpoint(folder, &skipped).value_or(folder);
  for (const std::string& line : skipped) fmt::print(stderr, "warning: {}\n", line);
  return path;
}

void inspect(const std::string& folder) {
  const std::string path = chosen_checkpoint(folder);
  const CheckpointMetadata metadata = read_checkpoint_metadata(path);
  fmt::print("checkpoint       {}\n", path);
  fmt::print("step             {}\n", metadata.step);
  fmt::print("tokens           {}\n", metadata.n_tokens);
  fmt::print("sample counter   {}\n", metadata.sample_counter);
  fmt::print("ranks            {}\n", metadata.n_ranks);
  fmt::print("fingerprint      {}\n", metadata.fingerprint);
  fmt::print("of its state     {}\n", metadata.state_fingerprint);
  fmt::print("recipe           {}\n", metadata.recipe_description);
  fmt::print("hyperparameters  {}\n", metadata.hyperparameters);
  for (const auto& [name, counter] : metadata.counters) {
    std::visit([&name = name](auto value) { fmt::print("counter          {} = {}\n", name, value); }, counter);
  }
  for (const CheckpointFile& record : metadata.files) {
    fmt::print("\n{}  {} bytes\n", record.name, record.n_bytes);
    const SafetensorsFile file = SafetensorsFile::open(path + "/" + record.name);
    for (const TensorEntry& tensor : file.tensors()) {
      const auto part = file.metadata().find(tensor.name);
      fmt::print("  {:<4} [{}]  {}{}\n", name_of(tensor.dtype), fmt::join(tensor.shape, ", "), tensor.name,
                 part == file.metadata().end() ? "" : "  " + part->second);
    }
  }
}

void verify(const std::string& folder) {
  const std::string path = chosen_checkpoint(folder);
  CheckpointReader checkpoint(path);
  checkpoint.verify();
  fmt::print("{}: complete, {} bytes in {} file(s) match their checksums\n", path, checkpoint.bytes_read(),
             checkpoint.metadata().files.size());
}

/// Whichever files hold the parts of a tensor.
void digest(const std::string& folder) {
  CheckpointReader checkpoint(chosen_checkpoint(folder));
  std::vector<std::byte> bytes;
  for (const std::string& name : checkpoint.names()) {
    const CheckpointReader::Tensor& tensor = *checkpoint.find(name);
    const auto width = static_cast<std::int64_t>(bytes_per_element(tensor.dtype));
    constexpr std::int64_t most = std::int64_t{4} << 20;  // elements at a time
    monomorph::Xxh64 hash;
    for (std::int64_t first = 0; first < tensor.n_elements; first += most) {
      bytes.resize(static_cast<std::size_t>(std::min(most, tensor.n_elements - first) * width));
      checkpoint.read(name, first, bytes);
      hash.update(bytes);
    }
    fmt::print("{:016x}  {:<4} [{}]  {}\n", hash.digest(), name_of(tensor.dtype), fmt::join(tensor.shape, ", "), name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program{"Looks into checkpoint folders.", "monomorph-checkpoint"};
  program.require_subcommand(1);
  std::string folder;
  const auto add_command = [&](const char* name, const char* text, void (*action)(const std::string&)) {
    CLI::App* const command = program.add_subcommand(name, text);
    command->add_option("DIR", folder, "A checkpoint, or a folder of them: then its latest one")->required();
    command->callback([&folder, action] { action(folder); });
  };
  add_command("inspect", "Print what a checkpoint holds; sizes are checked, checksums are not", inspect);
  add_command("digest", "Print the XXH64 of each tensor, the same however many ranks saved it", digest);
  add_command("verify", "Read every byte of a checkpoint and compare the checksums", verify);
  try {
    program.parse(argc, argv);
    return static_cast<int>(monomorph::ExitCode::success);
  } catch (const CLI::ParseError& failure) {
    return program.exit(failure) == 0 ? static_cast<int>(monomorph::ExitCode::success)
                                      : static_cast<int>(monomorph::ExitCode::usage);
  } catch (const monomorph::Error& failure) {
    fmt::print(stderr, "error: {}\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::exception& failure) {
    fmt::print(stderr, "error: {}\n", failure.what());
    return static_cast<int>(monomorph::ExitCode::failure);
  }
}
