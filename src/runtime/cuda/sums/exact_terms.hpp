#pragma once
#include <cuda_runtime.h>

#include <monomorph/core/exact_sum.hpp>

namespace monomorph::cuda {

/// An atomic sum of integers, whose order does not show.
__device__ inline void add_integer(std::int64_t* to, std::int64_t x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
}

/// What a thread adds to an exact sum whose words lie in the memory of its block. Atomic operations of many threads on
/// the same limbs take turns, so a thread keeps the limbs that it adds to while they are the same: four of them, as
/// terms are of like size, and gives them on when they change, and at the end.
class ExactTerms {
 public:
  __device__ explicit ExactTerms(std::int64_t* words) : words_(words) {}
  __device__ void add(double x) {
    if (x == 0) return;
    if (!ExactSum::is_finite(x)) return add_integer(words_ + ExactSum::word_of_special(x), 1);
    const ExactSum::Term term = ExactSum::term_of(x);
    if (term.limb < first_ || term.limb > first_ + 1) {
      flush();
      first_ = term.limb;
    }
    const bool shifted = term.limb != first_;
    limb0_ += shifted ? 0 : term.parts[0];
    limb1_ += shifted ? term.parts[0] : term.parts[1];
    limb2_ += shifted ? term.parts[1] : term.parts[2];
    limb3_ += shifted ? term.parts[2] : 0;
  }
  __device__ void flush() {
    if (limb0_ != 0) add_integer(words_ + first_, limb0_);
    if (limb1_ != 0) add_integer(words_ + first_ + 1, limb1_);
    if (limb2_ != 0) add_integer(words_ + first_ + 2, limb2_);
    if (limb3_ != 0) add_integer(words_ + first_ + 3, limb3_);
    limb0_ = limb1_ = limb2_ = limb3_ = 0;
  }

 private:
  std::int64_t* words_;
  int first_ = 0;  ///< of the limbs
  std::int64_t limb0_ = 0, limb1_ = 0, limb2_ = 0, limb3_ = 0;
};

}  // namespace monomorph::cuda
