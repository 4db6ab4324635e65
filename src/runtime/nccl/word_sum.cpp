#include "runtime/nccl/word_sum.hpp"

#include "runtime/distributed/failures.hpp"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <algorithm>
#include <thread>

namespace monomorph::cuda {

WordSum::WordSum(NcclGroup& nccl, c10::DeviceIndex device)
    : nccl_(nccl), stream_(c10::cuda::getStreamFromPool(false, device)) {}

void WordSum::operator()(std::span<std::int64_t> words, const std::function<void()>& check) {
  constexpr bool non_blocking = true;
  constexpr std::chrono::microseconds between_looks{20};
  const c10::cuda::CUDAStreamGuard guard(stream_);
  const auto n = static_cast<std::int64_t>(words.size());
  make_room(n);
  const at::Tensor host = on_host_.narrow(0, 0, n), gpu = on_gpu_.narrow(0, 0, n);
  std::ranges::copy(words, host.mutable_data_ptr<std::int64_t>());
  gpu.copy_(host, non_blocking);
  nccl_.work_for({distributed::adding_words, 0});
  NcclGroup::Work work = nccl_.all_reduce_sum(gpu);
  nccl_.join(work);
  host.copy_(gpu, non_blocking);
  back_.record(stream_);
  while (!back_.query()) {
    check();
    std::this_thread::sleep_for(between_looks);
  }
  check();  // an aborted collective ends, too
  std::copy_n(host.const_data_ptr<std::int64_t>(), n, words.begin());
}

void WordSum::make_room(std::int64_t n) {
  if (on_host_.defined() && on_host_.numel() >= n) return;
  on_host_ = at::empty({n}, at::dtype(at::kLong).pinned_memory(true));
  on_gpu_ = at::empty({n}, at::dtype(at::kLong).device(at::Device(at::kCUDA, stream_.device_index())));
}

}  // namespace monomorph::cuda
