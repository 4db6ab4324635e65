#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

#include <algorithm>

/// What is computed once, when a run begins, by the host's kernels, so that it has the bits of a run on CPUs.
namespace monomorph::cuda {
namespace {

/// Calls fill(place, first) for parts of a view, each in the host's memory before it is copied to its place.
template <class Fill> void fill_from_host(Queue queue, View x, Fill fill) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 24;
  HostBuffer buffer;
  for (std::int64_t begin = 0; begin < x.elements(); begin += most_elements) {
    const View part = x.reshaped({1, x.elements()}).columns(begin, std::min(most_elements, x.elements() - begin));
    const View place = place_on_host(queue, part, buffer);
    fill(place, static_cast<std::uint64_t>(begin));
    copy_from_host(queue, place, part);
  }
}

}  // namespace

void fill_normal(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double std, double cutoff) {
  fill_from_host(queue, x,
                 [&](View place, std::uint64_t begin) { random::normal(place, stream, first + begin, std, cutoff); });
}

void fill_uniform(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double half_width) {
  fill_from_host(queue, x, [&](View place, std::uint64_t begin) {
    random::symmetric_uniform(place, stream, first + begin, half_width);
  });
}

void rotary_table(Queue queue, const RotarySpec& rotary, View cos, View sin) {
  HostBuffer for_cos, for_sin;
  const View host_cos = place_on_host(queue, cos, for_cos), host_sin = place_on_host(queue, sin, for_sin);
  cpu::rotary_table(cpu::Queue{}, rotary, host_cos, host_sin);
  copy_from_host(queue, host_cos, cos);
  copy_from_host(queue, host_sin, sin);
}

}  // namespace monomorph::cuda
