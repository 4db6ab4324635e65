#include "commands.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/train/checkpoints/average.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <system_error>
#include <vector>

namespace monomorph::tools {
namespace {

double number_from(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end)
    throw UsageError("CHECKPOINT-33", in_quotes(text) + " is no weight; give numbers, as in --weights 0.7,0.3");
  return number;
}

/// @param text "0.7,0.3"; empty for none
std::vector<double> numbers_from(const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t begin = 0, end = 0; !text.empty() && end < text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    numbers.push_back(number_from(text.substr(begin, end - begin)));
  }
  return numbers;
}

struct Average {
  std::vector<std::string> checkpoints;
  std::string shares, output;

  void run() const {
    std::vector<std::string> found;
    for (const std::string& path : checkpoints) found.push_back(runtime::find_checkpoint(path));
    const train::AveragedCheckpoints average = train::average_checkpoints(found, numbers_from(shares), output);
    for (const std::string& note : average.notes) write_error_line("note: " + note);
    say("{}: the mean of the weights of {} checkpoints\n", average.path, found.size());
  }
};

}  // namespace

void add_average(CLI::App& program) {
  const auto average = std::make_shared<Average>();
  CLI::App* const command =
      program.add_subcommand("average", "Make a checkpoint of the mean of the weights of several");
  command->add_option("DIR", average->checkpoints, "Checkpoints, or folders that stand for their latest one")
      ->required()
      ->expected(2, 1 << 20);
  command->add_option("--weights", average->shares,
                      "The part of each in the mean, in any unit, as 0.7,0.3 (default: equal parts)");
  command->add_option("--output", average->output, "A run folder to be made, with the checkpoint in it")->required();
  command->callback([average] { average->run(); });
}

}  // namespace monomorph::tools
