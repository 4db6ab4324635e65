#pragma once
#include "runtime/machine/isa.hpp"

namespace monomorph::testing {

/// While it lives, CPUs' kernels are those of the instruction set that fuses no product with a sum, as kernels for GPUs
/// do not: where the compiler fuses is its own choice, and then the last bits differ.
class GenericArithmetic {
 public:
  GenericArithmetic() : before_(detail::active_isa()) { detail::use_isa(detail::Isa::generic); }
  ~GenericArithmetic() { detail::use_isa(before_); }
  GenericArithmetic(const GenericArithmetic&) = delete;
  GenericArithmetic& operator=(const GenericArithmetic&) = delete;

 private:
  detail::Isa before_;
};

}  // namespace monomorph::testing
