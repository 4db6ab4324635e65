#pragma once
#include <monomorph/model/autograd_tape.hpp>

#include <memory>

/// What a tape keeps of a block. It owns LibTorch's tensors without naming their type: every recipe has a tape, and
/// only one with blocks that LibTorch differentiates is linked with LibTorch.
struct monomorph::AutogradTape::Graph {
  std::shared_ptr<void> tensors;
};
