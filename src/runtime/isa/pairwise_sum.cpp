#include <cstring>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>
#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

constexpr int levels = 17;  // of most_pairwise_parts

/// Partial sums of n elements: held[k] is of the last complete group of 2^k terms, where bit k of `count` is set.
template <class S> class Counter {
 public:
  void add(const S* term, std::int64_t n) {
    int level = 0;
    for (; (count_ >> level & 1) != 0; ++level) term = join(held_[level].elements, term, n);
    std::memcpy(held_[level].elements, term, static_cast<std::size_t>(n) * sizeof(S));
    ++count_;
  }
  const S* total(std::int64_t n) {
    const S* sum = nullptr;
    for (int level = 0; level < levels; ++level)
      if ((count_ >> level & 1) != 0)
        sum = sum == nullptr ? held_[level].elements : join(held_[level].elements, sum, n);
    return sum;
  }

 private:
  const S* join(const S* earlier, const S* later, std::int64_t n) {
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) joined_.elements[i] = earlier[i] + later[i];
    return joined_.elements;
  }
  Buffer<S> held_[levels], joined_;
  std::uint32_t count_ = 0;
};

}  // namespace

void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) {
  in_compute_type(sum.dtype, [&]<class S>() {
    parallel_for(ceil_div(sum.elements(), task_elements), [&](std::int64_t task) {
      const std::int64_t end = least(sum.elements(), (task + 1) * task_elements);
      for (std::int64_t first = task * task_elements; first < end; first += chunk) {
        const std::int64_t n = least(chunk, end - first);
        Buffer<S> buffer;
        Counter<S> counter;
        for (const View& part : parts) counter.add(read(part, first, n, buffer.elements), n);
        const S* const total = counter.total(n);
        const S* const before = accumulate ? read(sum, first, n, buffer.elements) : nullptr;
        S* const out = place(sum, first, buffer.elements);
        MONOMORPH_ELEMENTWISE
        for (std::int64_t i = 0; i < n; ++i) out[i] = accumulate ? before[i] + total[i] : total[i];
        write(out, sum, first, n);
      }
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
