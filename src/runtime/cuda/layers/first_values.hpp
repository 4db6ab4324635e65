#pragma once
#include <monomorph/core/philox.hpp>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <cstdint>

/// First values drawn on a GPU, with the bits of a CPU. A GPU's own functions differ from the host's in the last bits
/// of fp64, which decides about a rounded element only if it lies next to where two values of its dtype meet. The GPU
/// lists these few, and the host draws them (docs/why/cuda_backend.md#first-values).
namespace monomorph::cuda {

/// How far a standard normal number on a GPU may lie from the host's. In units of u = 2^-52, of which an error of one
/// last place is one at most, and with every function of either taken for 4 times as wrong as it is documented to be:
///
/// Box-Muller, radius · cos(angle). The radius is below sqrt(2 · 33 ln 2) < 6.8. Two logarithms, 8 u apart, are 4 u
/// apart in the root: 27 u in the product. The host's angle is rounded twice, by up to 2π · u / 2, and a GPU's is not:
/// 43 u in the product. Cosine and sine, of 4 u here and 8 u there: 82 u. Roundings of root and product: 14 u. Together
/// 166 u.
///
/// Truncated. The probability is made of sums and products alone, and so is the same. The approximation with which
/// Halley's method begins is off by e < 4.5e-4, a step leaves (x² / 12 + 1 / 6) e³, and two leave 1e-27: of errors that
/// came before it, the last step leaves nothing. Of its own there are those of the probability below x, which count
/// Φ(x) / φ(x) times: 20 u of erfc, for which that is at most 1.26, or 26 u; its argument's, 1.5 u |x| < 11 u; and 7 u
/// of the step's roundings. On both sides together 88 u, and clamping makes no difference greater.
///
/// The product with the deviation rounds once more: 7 u. All of it is less than 200 u, and the margin is 1,024 u.
inline constexpr double normal_margin = 0x1p-42;

/// What random::normal is told.
struct NormalRun {
  random::Stream stream;
  std::uint64_t first;
  double std, cutoff;
};

/// Elements of a view that a GPU leaves to the host, in any order, in its memory.
struct UndecidedList {
  std::uint32_t* count;  ///< of all; the list has the first `capacity` of them
  std::uint32_t* elements;
  std::uint32_t capacity;
};

/// Draws a contiguous view of up to 2^32 elements, of 32 or 16 bits, and adds to the list those that round to another
/// value if margin · std is added or taken away.
void draw_normal(Queue queue, View x, const NormalRun& run, double margin, const UndecidedList& undecided);
/// x[elements[i]] = values[i], of the same dtype.
void put_elements(Queue queue, View values, const std::uint32_t* elements, View x);

/// Who draws, how many elements at once, how sure of it, and how many of these may be left to the host before it draws
/// all of them.
struct NormalDrawing {
  void (*draw)(Queue, View, const NormalRun&, double margin, const UndecidedList&) = draw_normal;
  std::int64_t at_once = std::int64_t{1} << 24;
  double margin = normal_margin;
  std::uint32_t capacity = 1 << 16;
};
void fill_normal(Queue queue, View x, const NormalRun& run, const NormalDrawing& drawing);

}  // namespace monomorph::cuda
