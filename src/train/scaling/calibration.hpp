#pragma once
#include "train/scaling/hardware.hpp"

#include <optional>

namespace monomorph::train {

/// What a program that scales each tensor of a block by that tensor's own greatest magnitude moves for fp8: a tensor
/// must be there in whole before its scale is known, so that kernels of their own read it once more, round it, and
/// transpose it.
struct RoundingBytes {
  double forward_token = 0, backward_token = 0;    ///< of all activations and gradients of a block, for each token
  double forward_weight = 0, backward_weight = 0;  ///< for each weight of a block, in each micro-batch
  double gathered_weight = 0;                      ///< a weight of a block as ranks gather it
};

/// What no data sheet says, for Monomorph's kernels. Fitted to published runs by bench/scaling/run, whose report has
/// the errors.
struct Calibration {
  /// Rates of products over the peak.
  double products_on_ampere = 0, products_on_hopper = 0, products_on_hopper_hbm2e = 0, products_on_blackwell = 0;
  /// Rates of attention's products over that of the others; Blackwell has Hopper's.
  double attention_forward_on_ampere = 0, attention_backward_on_ampere = 0;
  double attention_forward_on_hopper = 0, attention_backward_on_hopper = 0;
  double elementwise = 0;         ///< bytes that other kernels move, over those of activations that backward reads
  double waiting = 0;             ///< by how much kernels take longer with each doubling of the nodes
  double copies = 0;              ///< how often a collective's bytes are read or written in a GPU's memory
  double network = 0;             ///< of a link's bandwidth, that collectives reach
  double hop_seconds = 0;         ///< of a collective's pieces between two nodes
  double shared_hop_seconds = 0;  ///< the same in a network that is shared with many
  std::optional<RoundingBytes> rounding{};  ///< absent: as Monomorph rounds, by what makes a tensor
};

/// The committed result of the fit.
const Calibration& calibration();

}  // namespace monomorph::train
