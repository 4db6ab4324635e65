#pragma once
#include <string>
#include <vector>

namespace monomorph::train {

struct AveragedCheckpoints {
  std::string path;                ///< of the checkpoint that was made
  std::vector<std::string> notes;  ///< one line each: what the average does not have, and what is odd in it
};

/// Makes a checkpoint of the mean of the weights of several, in a new run folder, with the tokeniser's files of the
/// last one's run. Sums are of fp64, and each element is rounded once, to the dtype that it has in all of them. The
/// optimiser's state is left out, as its mean is that of no optimiser, so that no run resumes from the average. What
/// else it says is what the one of the highest step says.
/// @param shares of each in the mean, in any unit, all positive; empty for equal ones
/// @param output a folder that is not there
/// @throws as CheckpointReader, save_checkpoint and check_output; UsageError [CHECKPOINT-32] they are not of one model;
///   [CHECKPOINT-33] the shares are not one for each; [CHECKPOINT-35] after a signal. Nothing is left behind then.
AveragedCheckpoints average_checkpoints(const std::vector<std::string>& checkpoints, std::vector<double> shares,
                                        const std::string& output);

}  // namespace monomorph::train
