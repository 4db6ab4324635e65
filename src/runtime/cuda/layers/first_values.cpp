#include "runtime/cuda/layers/first_values.hpp"

#include "runtime/cuda/host/staging.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>

namespace monomorph::cuda {
namespace {

void draw_on_host(const View& place, const NormalRun& run, std::uint64_t element) {
  random::normal(place, run.stream, run.first + element, run.std, run.cutoff);
}

void fill_from_host(Queue queue, const View& part, const NormalRun& run) {
  HostBuffer buffer;
  const View place = place_on_host(queue, part, buffer);
  draw_on_host(place, run, 0);
  copy_from_host(queue, place, part);
}

/// Numbers of 32 bits as copies take them.
View words(std::uint32_t* begin, std::int64_t n) { return {reinterpret_cast<std::byte*>(begin), DType::fp32, {1, n}}; }

/// Where a part's list lies in the workspace, with room behind it for the elements that the host draws.
UndecidedList list_in_workspace(Queue queue, std::uint32_t capacity) {
  constexpr std::int64_t word = sizeof(std::uint32_t);
  auto* const count = reinterpret_cast<std::uint32_t*>(workspace(queue, (1 + 2 * std::int64_t{capacity}) * word));
  return {count, count + 1, capacity};
}

void draw_listed(Queue queue, const View& part, const NormalRun& run, const UndecidedList& list, std::int64_t n) {
  HostBuffer for_elements, for_values;
  const auto* const elements = copy_to_host(queue, words(list.elements, n), for_elements).as<const std::uint32_t>();
  const View values{reinterpret_cast<std::byte*>(list.elements + list.capacity), part.dtype, {1, n}};
  const View place = place_on_host(queue, values, for_values);
  parallel_for(n, [&](std::int64_t i) { draw_on_host(place.columns(i, 1), run, elements[i]); });
  copy_from_host(queue, place, values);
  put_elements(queue, values, list.elements, part);
}

void fill_part(Queue queue, const View& part, const NormalRun& run, const NormalDrawing& drawing) {
  const UndecidedList list = list_in_workspace(queue, drawing.capacity);
  zero(queue, words(list.count, 1));
  drawing.draw(queue, part, run, drawing.margin, list);
  HostBuffer buffer;
  const std::uint32_t n = *copy_to_host(queue, words(list.count, 1), buffer).as<const std::uint32_t>();
  if (n > list.capacity)
    fill_from_host(queue, part, run);
  else if (n > 0)
    draw_listed(queue, part, run, list, n);
}

}  // namespace

void fill_normal(Queue queue, View x, const NormalRun& run, const NormalDrawing& drawing) {
  for (std::int64_t begin = 0; begin < x.elements(); begin += drawing.at_once) {
    const View part = x.reshaped({1, x.elements()}).columns(begin, std::min(drawing.at_once, x.elements() - begin));
    NormalRun of_part = run;
    of_part.first += static_cast<std::uint64_t>(begin);
    if (part.dtype == DType::fp64)  // which nothing rounds
      fill_from_host(queue, part, of_part);
    else
      fill_part(queue, part, of_part, drawing);
  }
}

void fill_normal(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double std, double cutoff) {
  const KernelSpan span(Work::elementwise, "fill_normal", queue.stream);
  fill_normal(queue, x, {stream, first, std, cutoff}, {});
}

}  // namespace monomorph::cuda
