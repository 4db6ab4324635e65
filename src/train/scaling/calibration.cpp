#include "train/scaling/calibration.hpp"

namespace monomorph::train {

const Calibration& calibration() {
  static constexpr Calibration fitted{.products_on_ampere = 0.832,
                                      .products_on_hopper = 0.681,
                                      .products_on_hopper_hbm2e = 0.615,
                                      .products_on_blackwell = 0.57,
                                      .attention_forward_on_ampere = 0.544,
                                      .attention_backward_on_ampere = 0.261,
                                      .attention_forward_on_hopper = 0.644,
                                      .attention_backward_on_hopper = 0.39,
                                      .elementwise = 1.03,
                                      .waiting = 0.0106,
                                      .copies = 7.03,
                                      .network = 0.95,
                                      .hop_seconds = 5.79e-05,
                                      .shared_hop_seconds = 0.000235};
  return fitted;
}

}  // namespace monomorph::train
