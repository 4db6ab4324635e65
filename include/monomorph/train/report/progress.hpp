#pragma once
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/machine/trace.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// What is known when an optimiser step ends.
struct StepReport {
  std::int64_t step = 0;                                ///< finished steps
  std::int64_t total_steps = 0;                         ///< of the whole run
  double loss = 0.0;                                    ///< mean over the counted tokens of the global batch, nats
  std::optional<double> auxiliary_loss = std::nullopt;  ///< mean likewise; absent if no block has one
  std::vector<std::pair<std::string_view, double>> objective_metrics{};  ///< by name
  double lr = 0.0;
  std::optional<double> grad_norm;  ///< before clipping; absent if the clipping mode has none
  double tokens_per_second = 0.0;   ///< over all ranks
  std::optional<double> mfu;        ///< exact matrix product count, causal attention; absent until the peak is known
  std::optional<double> mfu_palm;   ///< 6 N + 12 L D T per token
  std::optional<double> mfu_6n;     ///< 6 N per token
  std::optional<double> hfu;        ///< the exact count, and what is computed again; else as mfu
  std::optional<double> roof_fraction;  ///< the roof over the time of a step; absent where the roof is not known
  double evaluation_seconds = 0.0, checkpoint_seconds = 0.0;  ///< since the last report
  std::optional<WorkSeconds> work_seconds = std::nullopt;     ///< of the step before, on this rank
  std::int64_t peak_memory_bytes = 0;                         ///< of the device or process of the rank with most
  std::int64_t planned_memory_bytes = 0;                      ///< the plan's, of that memory
  double data_wait_fraction = 0.0;                            ///< of the time since the last report
  std::optional<double> seconds_left;                         ///< absent in the first steps
  std::int64_t skipped = 0;                                   ///< steps skipped for non-finite gradients so far
  std::int64_t failed_saves = 0;                              ///< checkpoints that could not be saved so far
  double loss_scale = 1.0;                                    ///< of this step's gradients
};

/// The live line: the most important things first, at most `width` columns; what does not fit is left out whole.
std::string live_line(const StepReport& report, std::size_t width);

/// The line of a log file: `key value` pairs in aligned columns, always all of them.
std::string log_line(const StepReport& report);

/// Shows progress on one open file: a line that is redrawn in place at a terminal, plain lines otherwise.
class Progress {
 public:
  /// @param descriptor where to write, such as 1; not closed
  /// @param log_every without a terminal: the first, the last and every such step has a line
  Progress(int descriptor, std::int64_t log_every);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  ///< ends the live line

  void step(const StepReport& report);

  /// A line that stays, such as an evaluation's result; the live line goes on below it.
  void note(std::string_view line);

  /// Ends the live line with a newline, so that other output can follow.
  void finish();

 private:
  void show(const std::string& text);
  int descriptor_;
  std::int64_t log_every_;
  bool terminal_;
  bool line_open_ = false;  ///< the live line is shown, and its newline is not yet written
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace monomorph::train
