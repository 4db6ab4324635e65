#pragma once
#include <monomorph/core/philox.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::random {

/// Elements first, first + 1, … of a stream of normal numbers (Box-Muller), times `std`, rounded to the view's dtype;
/// with `cutoff` > 0, of the normal distribution truncated at ± cutoff · std (inverse CDF of a uniform number).
void normal(View x, const Stream& stream, std::uint64_t first, double std, double cutoff = 0);
/// The same of uniform numbers in ± half_width.
void symmetric_uniform(View x, const Stream& stream, std::uint64_t first, double half_width);
void fill(View x, double value);

/// Element i of a stream of uniform numbers in [0, 1), 53 bits.
double uniform(const Stream& stream, std::uint64_t i);

}  // namespace monomorph::random

namespace monomorph::cpu {
// The contracts of random::normal, random::symmetric_uniform and random::fill, for every device.
inline void fill_normal(Queue, View x, const random::Stream& stream, std::uint64_t first, double std, double cutoff) {
  random::normal(x, stream, first, std, cutoff);
}
inline void fill_uniform(Queue, View x, const random::Stream& stream, std::uint64_t first, double half_width) {
  random::symmetric_uniform(x, stream, first, half_width);
}
inline void fill(Queue, View x, double value) { random::fill(x, value); }
}  // namespace monomorph::cpu
