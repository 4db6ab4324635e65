#pragma once
#include <monomorph/core/command_line.hpp>
#include <monomorph/data/prepare/shuffle.hpp>

#include <CLI/CLI.hpp>

namespace monomorph::tools {

/// The seed of what is drawn at random.
struct SeedOption {
  std::uint64_t value = 0;
  void add_to(CLI::App& command) {
    add_number(command, "--seed", value, "Equal seeds draw equally")->capture_default_str();
  }
};

/// What shuffling has for options, wherever it is done.
struct ShuffleOptions {
  SeedOption seed;
  std::uint64_t memory_mebibytes = data::ShuffleSettings{}.memory_bytes >> 20;

  void add_to(CLI::App& command) {
    constexpr std::uint64_t most_mebibytes = std::uint64_t{1} << 30;
    seed.add_to(command);
    add_number(command, "--memory", memory_mebibytes,
               "MiB of documents that are held at once; what is more waits on the disk beside the output",
               {1, most_mebibytes})
        ->capture_default_str();
  }
  data::ShuffleSettings settings() const { return {seed.value, memory_mebibytes << 20}; }
};

}  // namespace monomorph::tools
