#pragma once
#include "runtime/cuda/layers/first_values.hpp"

namespace monomorph::emulator {

/// cuda::draw_normal on a GPU whose functions are wrong: each number is off by 0.99 of the margin, to one side or the
/// other.
void draw_moved(cuda::Queue queue, View x, const cuda::NormalRun& run, double margin,
                const cuda::UndecidedList& undecided);

}  // namespace monomorph::emulator
