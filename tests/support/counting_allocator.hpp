#pragma once
#include <cstdint>

/// What anybody in the process takes as memory, LibTorch, MKL and OpenMP included: malloc and its relatives are
/// replaced by our own, which glibc allows a program to do (its manual, "Replacing malloc"), operator new comes down to
/// them, and so are mmap and munmap. Stacks of threads are not seen. Not with sanitizers, which bring a malloc of their
/// own.
namespace monomorph::testing {

/// Allocations from here on.
void start_counting();
long stop_counting();

std::int64_t live_bytes();
/// The most that live_bytes() has been since reset_peak().
std::int64_t peak_bytes();
void reset_peak();

}  // namespace monomorph::testing
