#pragma once
#include "support/process.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

/// The programs as a user calls them, on a few kilobytes of Shakespeare in a temporary folder.
namespace monomorph::testing {

/// A program of this build: "tiny_gpt2", "monomorph-data", ...
std::string program(const std::string& name);

using Arguments = std::vector<std::string>;

/// Arguments, settings or an environment, and more of them.
template <class T> std::vector<T> with(std::vector<T> first, const std::type_identity_t<std::vector<T>>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

ProcessResult run_program(const std::string& name, const Arguments& arguments,
                          const Process::Environment& environment = {});

/// One non-empty line, as every message of ours must be.
bool is_one_line(const std::string& text);

/// Where a server listens that was just started: the URL that it says, which ends in /v1.
std::string url_of(Process& server);

/// That a program refuses: exit code, nothing on standard output, one line on standard error with these parts.
void check_refusal(const ProcessResult& result, int exit_code, const std::vector<std::string>& parts);

/// The same for several mistakes of a configuration: a line for each, in their order.
void check_refusals(const ProcessResult& result, int exit_code, const std::vector<std::vector<std::string>>& parts);

/// A folder with a tokeniser, packed training and held-out data for one recipe, and its runs.
class Workplace {
 public:
  /// @param recipe a recipe "tiny_..."
  explicit Workplace(std::string recipe);

  std::string operator/(const std::string& name) const { return folder_ / name; }
  const std::string& recipe() const { return recipe_; }

  /// Writes <name>.json: small steps of this workplace's data into the run folder `name`, and returns its path.
  std::string hparams_file(const std::string& name) const;
  /// The arguments that train into the run folder `name`, each of `sets` overriding one value.
  Arguments training(const std::string& name, const std::vector<std::string>& sets = {}) const;
  ProcessResult train(const std::string& name, const std::vector<std::string>& sets = {}) const;
  ProcessResult run(const Arguments& arguments, const Process::Environment& environment = {}) const;

 private:
  std::string recipe_;
  TemporaryFolder folder_;
};

/// The command line of the workplace's recipe.
Arguments command(const Workplace& place, const Arguments& arguments);

/// What a checkpoint says of all state: step, tokens, sample counter, counters, and the checksum of every tensor's
/// bytes. Two checkpoints whose states are equal in every bit have equal texts.
std::string state_of(const std::string& checkpoint);
/// state_of the latest checkpoint of a run, after monomorph-checkpoint has verified it.
std::string final_state(const std::string& run_folder);
/// Names of the checkpoints of a run, in order, and of what saves have left there.
std::vector<std::string> checkpoints_of(const std::string& run_folder);

/// By step, the values of one name in metrics.jsonl, as they stand there. Fails if a step is there twice.
std::map<std::int64_t, std::string> metric(const std::string& run_folder, const std::string& name);
/// By step, a metric as a number.
std::map<std::int64_t, double> metric_values(const std::string& run_folder, const std::string& name);

}  // namespace monomorph::testing
