#include "runtime/cuda/attention/cudnn_attention.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"
#include "runtime/cuda/host/staging.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// attention_check: on a GPU, attention by cuDNN against the plain kernels, which the emulator compares with the CPU's.
/// Prints a line for each shape and mask, and ends with 1 if one is wrong.
using namespace monomorph;

namespace {

/// Memory of the GPU: numbers of about unit size, or bytes 0xFF, which are NaNs.
class Buffer {
 public:
  Buffer(std::int64_t rows, std::int64_t cols, DType dtype, unsigned seed = 0) : view_(nullptr, dtype, {rows, cols}) {
    void* memory = nullptr;
    const auto bytes = static_cast<std::size_t>(rows * cols * size_of(dtype));
    if (cudaMalloc(&memory, bytes) != cudaSuccess) throw std::runtime_error("no memory");
    view_.data = static_cast<std::byte*>(memory);
    cudaMemset(memory, 0xFF, bytes);
    if (seed != 0) fill(seed);
  }
  ~Buffer() { cudaFree(view_.data); }
  Buffer(const Buffer&) = delete;
  const View& view() const { return view_; }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> copy(static_cast<std::size_t>(view_.bytes()));
    cudaMemcpy(copy.data(), view_.data, copy.size(), cudaMemcpyDeviceToHost);
    return copy;
  }
  std::vector<float> values() const {
    const auto raw = bytes();
    std::vector<float> values(static_cast<std::size_t>(view_.elements()));
    if (view_.dtype == DType::fp32) {
      std::memcpy(values.data(), raw.data(), raw.size());
      return values;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t half;
      std::memcpy(&half, raw.data() + 2 * i, 2);
      const std::uint32_t word = std::uint32_t{half} << 16;
      std::memcpy(&values[i], &word, 4);
    }
    return values;
  }

 private:
  /// bf16 by truncation.
  void fill(unsigned seed) {
    std::minstd_rand generator(seed);
    std::vector<std::uint16_t> x(static_cast<std::size_t>(view_.elements()));
    for (auto& element : x) {
      float sum = -2;
      for (int i = 0; i < 4; ++i) sum += static_cast<float>(generator() % 65'536) / 65'536;
      sum *= 1.7f;
      std::uint32_t word;
      std::memcpy(&word, &sum, 4);
      element = static_cast<std::uint16_t>(word >> 16);
    }
    cudaMemcpy(view_.data, x.data(), 2 * x.size(), cudaMemcpyHostToDevice);
  }
  View view_;
};

float milliseconds(const auto& f) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  f();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms;
}

struct Result {
  std::vector<float> out, lse, gradients;
  std::vector<std::byte> bits;
  float forward_ms, backward_ms;
};

using Attend = void (*)(cuda::Queue, const cuda::AttentionCall&);

Result run(const AttentionShape& s, const AttentionMask& mask, Attend forward, Attend backward) {
  const std::int64_t rows = s.batch * s.tokens, q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  const Buffer qkv(rows, q + 2 * kv, DType::bf16, 1), dout(rows, q, DType::bf16, 2), out(rows, q, DType::bf16);
  const Buffer lse(s.batch * s.heads, s.tokens, DType::fp32), d(rows, q + 2 * kv, DType::bf16);
  const auto part = [&](const Buffer& x, std::int64_t first, std::int64_t n) { return x.view().columns(first, n); };
  const cuda::AttentionCall call{
      part(qkv, 0, q), part(qkv, q, kv), part(qkv, q + kv, kv), out.view(), lse.view(), dout.view(),
      part(d, 0, q),   part(d, q, kv),   part(d, q + kv, kv),   s,          mask};
  if (forward == cuda::cudnn_attention && !cuda::cudnn_takes(call)) throw std::runtime_error("cuDNN does not take it");
  const cuda::Queue queue{nullptr};
  forward(queue, call);  // builds plans
  backward(queue, call);
  const float forward_ms = milliseconds([&] { forward(queue, call); });
  const float backward_ms = milliseconds([&] { backward(queue, call); });
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error(cudaGetErrorString(cudaGetLastError()));
  return {out.values(), lse.values(), d.values(), d.bytes(), forward_ms, backward_ms};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 1e-30, difference = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return INFINITY;
    largest = std::max(largest, double{std::abs(b[i])});
    difference = std::max(difference, double{std::abs(a[i] - b[i])});
  }
  return difference / largest;
}

bool check(const std::string& name, const AttentionShape& shape, const AttentionMask& mask) {
  try {
    const Result ours = run(shape, mask, cuda::plain_attention, cuda::plain_attention_backward);
    const Result first = run(shape, mask, cuda::cudnn_attention, cuda::cudnn_attention_backward);
    const Result again = run(shape, mask, cuda::cudnn_attention, cuda::cudnn_attention_backward);
    const double out = distance(first.out, ours.out), lse = distance(first.lse, ours.lse);
    const double gradients = distance(first.gradients, ours.gradients);
    const bool same = first.bits == again.bits, right = out < 1e-2 && lse < 1e-5 && gradients < 2e-2 && same;
    std::printf(
        "%s %-40s out %.1e lse %.1e gradients %.1e same bits %d; ms forward %.3f (plain %.3f) backward %.3f "
        "(plain %.3f)\n",
        right ? "ok   " : "WRONG", name.c_str(), out, lse, gradients, same, again.forward_ms, ours.forward_ms,
        again.backward_ms, ours.backward_ms);
    std::fflush(stdout);
    return right;
  } catch (const std::exception& error) {
    std::printf("WRONG %-40s %s\n", name.c_str(), error.what());
    return false;
  }
}

}  // namespace

int main() {
  constexpr std::int64_t all = AttentionMask::unlimited;
  const std::map<std::string, AttentionMask> masks{{"causal", {}},
                                                   {"full", {all, all, 0}},
                                                   {"window 128", {127, 0, 0}},
                                                   {"itself", {0, 0, 0}},
                                                   {"64 and 32", {64, 32, 0}}};
  const auto scaled = [](AttentionShape s) {
    s.scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
    return s;
  };
  bool right = true;
  for (const auto& [name, mask] : masks)
    for (const AttentionShape& shape :
         {AttentionShape{2, 512, 8, 8, 64, 0}, {2, 500, 8, 2, 128, 0}, {3, 77, 4, 2, 80, 0}})
      right &= check(name + " T " + std::to_string(shape.tokens) + " H " + std::to_string(shape.head_dim),
                     scaled(shape), mask);
  right &= check("B32 T1024 N12 H64", scaled({32, 1024, 12, 12, 64, 0}), {});
  right &= check("B2 T4096 N32 KV8 H64, in parts", scaled({2, 4096, 32, 8, 64, 0}), {});
  right &= check("B1 T8192 N32 KV8 H128, in parts", scaled({1, 8192, 32, 8, 128, 0}), {});
  return right ? 0 : 1;
}
