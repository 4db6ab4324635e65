#pragma once
#include "train/scaling/hardware.hpp"

namespace monomorph::train {

/// What no data sheet says. Fitted to published runs by bench/scaling/run, whose report has the errors.
struct Calibration {
  double products_on_ampere = 0.8;   ///< of the peak, that large matrix products reach
  double products_on_hopper = 0.65;  ///< of Blackwell's as well: there is no row of it
  double attention = 0.6;            ///< rate of attention's products over that of the others
  double elementwise = 1.5;          ///< bytes that the other kernels of Monomorph move, over those of activations that
                             ///< backward reads
  double contention = 0.25;            ///< by how much kernels take longer while a collective is under way
  double network = 0.8;                ///< of a link's bandwidth, that collectives reach
  double hop_seconds = 40e-6;          ///< of a collective's pieces between two nodes
  double shared_hop_seconds = 200e-6;  ///< the same in a network that is shared with many
};

/// The committed result of the fit.
const Calibration& calibration();

}  // namespace monomorph::train
