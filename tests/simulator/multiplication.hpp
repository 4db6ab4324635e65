#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::simulator {

/// A matrix by columns, of which `rows` are the columns.
struct Matrix {
  View rows;
  bool transposed = false;
};

/// d = alpha a b + beta c, and the bias in each column: what cuBLASLt computes, in the plainest way. Products are added
/// up in fp64 if that is d's dtype, or else in fp32, in the order of the columns of a. What comes after them begins
/// with numbers that are not rounded yet. Of factors of 8 bits the product
/// is multiplied by numbers in the GPU's memory, too.
struct Multiplication {
  enum class After {
    nothing,
    gelu,           ///< aux gets d, and d becomes gelu(d)
    gelu_gradient,  ///< d is multiplied by the slope of gelu at aux
  };
  Matrix a, b, c, d;
  View bias;   ///< of one row; not present without
  Matrix aux;  ///< likewise
  double alpha, beta;
  const float *a_scale = nullptr, *b_scale = nullptr;
  After after = After::nothing;

  /// Tells the simulator what it reads and writes.
  void run() const;
};

}  // namespace monomorph::simulator
