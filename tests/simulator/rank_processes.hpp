#pragma once
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <cstdlib>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

/// Programs that are ranks, each a process (training_rank.hpp), and what they print.
namespace monomorph::testing {

/// Where ranks make the folder of their simulated NCCL, which those that are killed leave behind.
inline const std::string& folder_of_ranks() {
  static const TemporaryFolder folder;
  return folder.path();
}

/// The number under which ranks meet that start together: as a port, which none of them opens (meeting.cpp).
inline std::string new_meeting() {
  static int last = 0;
  return std::to_string(++last);
}

/// @param timeout of ranks for each other, in seconds
inline Process::Environment environment(int rank, int ranks, const std::string& meeting, int gpus,
                                        const std::string& trouble = "", int timeout = 600) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(ranks)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", meeting},
          {"LD_LIBRARY_PATH", MONOMORPH_SIMULATED_MEETING},
          {"OMP_NUM_THREADS", "1"},
          {"TMPDIR", folder_of_ranks()},
          {"MONOMORPH_SIMULATOR_GPUS", std::to_string(gpus)},
          {"MONOMORPH_SIMULATOR_NCCL", trouble},
          {"MONOMORPH_SIMULATOR_RANK_TIMEOUT", std::to_string(timeout)}};
}

/// By rank.
inline std::vector<ProcessResult> results_of(int ranks, const std::vector<std::string>& rank_program, int gpus) {
  const std::string meeting = new_meeting();
  std::deque<Process> processes;
  for (int rank = 0; rank < ranks; ++rank)
    processes.emplace_back(rank_program, ranks == 1 ? Process::Environment{} : environment(rank, ranks, meeting, gpus));
  std::vector<ProcessResult> results;
  for (Process& process : processes) results.push_back(process.wait());
  return results;
}
inline std::vector<ProcessResult> results_of(int ranks, const std::vector<std::string>& rank_program) {
  return results_of(ranks, rank_program, ranks);
}

inline std::vector<std::string> lines_of(const std::string& text, const std::string& beginning) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(beginning)) lines.push_back(line);
  return lines;
}

/// The steps of rank 0. All ranks have ended well and without races, and agree.
inline std::vector<std::string> steps_of(int ranks, const std::vector<std::string>& rank_program) {
  const std::vector<ProcessResult> results = results_of(ranks, rank_program);
  for (const ProcessResult& result : results) {
    CAPTURE(result.err, result.out);
    CHECK(result.exit_code == 0);
    CHECK(lines_of(result.out, "note: ").empty());
    CHECK(lines_of(result.out, "step ") == lines_of(results.front().out, "step "));
  }
  return lines_of(results.front().out, "step ");
}

inline std::vector<double> losses_of(const std::vector<std::string>& steps) {
  std::vector<double> losses;
  for (const std::string& step : steps) losses.push_back(std::strtod(step.c_str() + step.find("loss ") + 5, nullptr));
  return losses;
}

}  // namespace monomorph::testing
