#pragma once

namespace monomorph::cpu {

/// Runs what it is given at once, where it is called. Kernels of a device take its queue first, and are found by it.
struct Queue {};

}  // namespace monomorph::cpu
