#pragma once
#include <monomorph/plan/update_runs.hpp>
#include <vector>

namespace monomorph::train {

/// By unit, the matrices that the optimiser transforms. Compiled once: few recipes have any.
class TransformedMatrices {
 public:
  struct OfUnit {
    std::vector<plan::TransformedMatrix> side_by_side;  ///< those that take longest first
    std::vector<plan::TransformedMatrix> in_turn;       ///< each on all of the device
  };

  TransformedMatrices();
  ~TransformedMatrices();
  TransformedMatrices(const TransformedMatrices&) = delete;
  TransformedMatrices& operator=(const TransformedMatrices&) = delete;

  void add(int unit, const plan::TransformedMatrix& of);
  bool any(int unit) const;
  const OfUnit& of(int unit) const;

 private:
  std::vector<OfUnit> units_;
};

}  // namespace monomorph::train
