#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/host/planned_memory.hpp"
#include "runtime/cuda/host/staging.hpp"

#include <monomorph/runtime/cuda/fused_products.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <cstring>

namespace monomorph::cuda {
namespace {

std::byte* allocate(std::int64_t bytes) {
  std::byte* const memory = take_gpu_memory(bytes, nullptr);
  check(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), compute_stream()), "clearing memory");
  return memory;
}

/// Nothing is thrown where an arena ends, maybe because of a failure of the GPU.
void release(std::byte* memory, std::int64_t) {
  cudaStreamSynchronize(compute_stream());
  cudaFree(memory);
}

std::byte* allocate_on_host(std::int64_t bytes) {
  std::byte* const memory = take_host_memory(bytes, nullptr);
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return memory;
}

void release_on_host(std::byte* memory, std::int64_t) {
  cudaStreamSynchronize(compute_stream());
  cudaFreeHost(memory);
}

/// Between views of equal dtype and shape, of which either may be strided, and lie on the GPU or on the host.
void copy_rows(Queue queue, const View& from, const View& to) {
  const KernelSpan span(Work::copies, "copy between it and the host", queue.stream);
  const auto row = static_cast<std::size_t>(from.shape.cols * size_of(from.dtype));
  const auto pitch = [](const View& x) {
    return static_cast<std::size_t>((x.shape.rows > 1 ? x.stride : x.shape.cols) * size_of(x.dtype));
  };
  check(cudaMemcpy2DAsync(to.data, pitch(to), from.data, pitch(from), row, static_cast<std::size_t>(from.shape.rows),
                          cudaMemcpyDefault, queue.stream),
        "copying between it and the host");
}

}  // namespace

const Allocator& allocator(Queue) {
  static constexpr Allocator of_gpu{.allocate = allocate, .release = release};
  return of_gpu;
}

const Allocator& host_allocator(Queue) {
  static constexpr Allocator of_host{.allocate = allocate_on_host, .release = release_on_host};
  return of_host;
}

/// What the process keeps for steps is in use, and free for the next one, whose plan counts it.
DeviceUse device_use(Queue queue) {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "naming itself");
  check(cudaGetDeviceProperties(&properties, device), "naming itself");
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "counting its memory");
  return {.gpu = properties.name,
          .peak_memory_bytes = static_cast<std::int64_t>(total - free),
          .free_memory_bytes = static_cast<std::int64_t>(free) + bytes_kept_for_steps(),
          .product_table = product_table_hash(queue)};
}

View place_on_host(Queue, View view, HostBuffer& buffer) {
  if (!view.present()) return view;
  buffer.resize(static_cast<std::size_t>(view.bytes()));
  return {buffer.data(), view.dtype, view.shape};
}

View copy_to_host(Queue queue, View view, HostBuffer& buffer) {
  const View place = place_on_host(queue, view, buffer);
  if (view.present()) copy_rows(queue, view, place);
  synchronize(queue);
  return place;
}

void copy_from_host(Queue queue, View place, View view) {
  if (!view.present()) return;
  copy_rows(queue, place, view);
  synchronize(queue);  // the place may be used for something else now
}

}  // namespace monomorph::cuda
