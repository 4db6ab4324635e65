#pragma once
#include <string>

namespace monomorph::train {

/// The folder of the run that has saved a checkpoint, in which its tokeniser lies and what goes with that. If the run's
/// checkpoints lie in it, as `checkpoint.directory` says, it is found from where they are now, so that it may have been
/// moved as a whole. Of others it is the `run.output_dir` that the checkpoint has.
/// @throws as runtime::read_checkpoint_metadata
std::string run_folder_of(const std::string& checkpoint);

}  // namespace monomorph::train
