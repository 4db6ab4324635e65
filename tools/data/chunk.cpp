#include "command.hpp"
#include "commands.hpp"
#include "shuffle_options.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/number_text.hpp>
#include <monomorph/data/prepare/shuffle.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace monomorph::tools {
namespace {

/// "out-00003-of-00008.pbin" for chunk 3 of 8 of "out.pbin".
std::string chunk_path(const std::string& output, std::int64_t number, std::int64_t n_chunks) {
  const std::filesystem::path path(output);
  const std::string name =
      fmt::format("{}-{:05}-of-{:05}{}", path.stem().string(), number, n_chunks, path.extension().string());
  return (path.parent_path() / name).string();
}

constexpr std::int64_t most_chunks = 99'999;

struct Chunk {
  static constexpr const char* name = "chunk";
  static constexpr const char* description = "Cut a set, shuffled, into parts that have no document in common";

  InputOption input;
  OutputOption output;
  ShuffleOptions options;
  std::string which;
  std::int64_t n_chunks = 0;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin) or JSON Lines (.jsonl)");
    output.add_to(command, "file of the same kind to write; with --chunks, -00001-of-00008 is added to its name");
    CLI::App* parts = command.add_option_group("parts");
    add_number(*parts, "--chunks", n_chunks, "Write all of so many chunks", {1, most_chunks});
    parts->add_option("--chunk", which, "Write one chunk, such as 3/8; they are counted from 1");
    parts->require_option(1);
    options.add_to(command);
  }

  void run(Console& console) const {
    const auto [chunks, n_all] = wanted();
    std::vector<std::string> paths;
    paths.reserve(chunks.size());
    for (const data::Chunk& chunk : chunks) paths.push_back(chunk.output);
    output.check(paths, {input.path});
    const auto sizes = data::write_chunks(input.path, chunks, n_all, options.settings(), console.progress());
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      console.say(fmt::format("{}: {} documents", chunks[i].output, sizes[i].n_documents));
      outputs.push_back({{"output", chunks[i].output},
                         {"chunk", chunks[i].number},
                         {"documents", sizes[i].n_documents},
                         {"data_bytes", sizes[i].n_bytes}});
    }
    console.summarise({{"chunks", n_all}, {"outputs", outputs}, {"seed", options.seed.value}});
  }

 private:
  struct Wanted {
    std::vector<data::Chunk> chunks;
    std::int64_t n_all;
  };

  Wanted wanted() const {
    const std::size_t slash = std::min(which.find('/'), which.size());
    const auto number = number_from<std::int64_t>(std::string_view(which).substr(0, slash));
    const auto of = which.empty()
                        ? n_chunks
                        : number_from<std::int64_t>(std::string_view(which).substr(std::min(slash + 1, which.size())));
    if (!of || (!which.empty() && !number)) {
      throw UsageError("DATA-42", in_quotes(which) + " names no chunk; write it like 3/8, the third of eight");
    }
    if (*of < 1 || *of > most_chunks) {
      throw UsageError("DATA-42", fmt::format("a set cannot be cut into {} chunks; ask for 1 to {}", *of, most_chunks));
    }
    if (!which.empty()) return {{{*number, output.path}}, *of};
    std::vector<data::Chunk> chunks;
    for (std::int64_t i = 1; i <= *of; ++i) chunks.push_back({i, chunk_path(output.path, i, *of)});
    return {std::move(chunks), *of};
  }
};

}  // namespace

void add_chunk(CLI::App& program) { add_command<Chunk>(program); }

}  // namespace monomorph::tools
