#pragma once

namespace monomorph {

/// What a command-line tool's main() does: runs the program with interruptions noted (InterruptionGuard) and files that
/// are cut short survived (TruncationGuard), and ends the process by the signal that has stopped it.
/// @param run the program, which throws nothing   @return its exit code
int interruptible_main(int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace monomorph
