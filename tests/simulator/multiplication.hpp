#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::simulator {

/// A matrix by columns, of which `rows` are the columns.
struct Matrix {
  View rows;
  bool transposed = false;
};

/// d = alpha a b + beta c, and the bias in each column: what cuBLASLt computes, in the plainest way. Products are added
/// up in fp64 if that is d's dtype, or else in fp32, in the order of the columns of a.
struct Multiplication {
  Matrix a, b, c, d;
  View bias;  ///< of one row; not present without
  double alpha, beta;

  /// Tells the simulator what it reads and writes.
  void run() const;
};

}  // namespace monomorph::simulator
