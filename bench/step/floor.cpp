// The floor of a step: the bare matrix products and attention of its shapes, by LibTorch, forward and backward, and
// nothing else. step_floor LAYERS DIM HEADS KV_HEADS FFN(1: plain, 2: gated) HIDDEN VOCAB T BATCH [repeats] prints a
// line of JSON.
#include <ATen/Parallel.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

double median_ms(int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats + 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    if (i >= 2)
      times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// y (M, N) = x (M, K) w (N, K)ᵀ, dx = dy w, dw = dyᵀ x.
double linear_ms(int repeats, std::int64_t M, std::int64_t K, std::int64_t N) {
  const at::Tensor x = at::randn({M, K}), w = at::randn({N, K}), dy = at::randn({M, N});
  at::Tensor y = at::empty({M, N}), dx = at::empty({M, K}), dw = at::empty({N, K});
  return median_ms(repeats, [&] {
    at::mm_out(y, x, w.t());
    at::mm_out(dx, dy, w);
    at::mm_out(dw, dy.t(), x);
  });
}

double attention_ms(int repeats, std::int64_t B, std::int64_t T, std::int64_t N, std::int64_t H) {
  const auto heads = [&] { return at::randn({B, T, N, H}).transpose(1, 2); };
  const at::Tensor q = heads(), k = heads(), v = heads(), dout = heads();
  return median_ms(repeats, [&] {
    const auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, true);
    at::_scaled_dot_product_flash_attention_for_cpu_backward(dout, q, k, v, out, lse, 0.0, true);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 10)
    return fmt::print(stderr, "step_floor LAYERS DIM HEADS KV_HEADS FFN HIDDEN VOCAB T BATCH [repeats]\n"), 2;
  const c10::NoGradGuard no_grad;
  std::vector<std::int64_t> a;
  for (int i = 1; i < argc; ++i) a.push_back(std::atoll(argv[i]));
  const auto L = a[0], D = a[1], N = a[2], KV = a[3], gates = a[4], F = a[5], V = a[6], T = a[7], B = a[8], H = D / N;
  const int repeats = argc > 10 ? std::atoi(argv[10]) : 15;
  const std::int64_t M = B * T;
  const double block = linear_ms(repeats, M, D, D + 2 * KV * H) + linear_ms(repeats, M, D, D) +
                       linear_ms(repeats, M, D, gates * F) + linear_ms(repeats, M, F, D);
  const double head = linear_ms(std::max(3, repeats / 3), M, D, V), attention = attention_ms(repeats, B, T, N, H);
  fmt::print(
      "{{\"floor_ms\": {:.2f}, \"blocks_ms\": {:.2f}, \"attention_ms\": {:.2f}, \"head_ms\": {:.2f}, \"threads\": "
      "{}}}\n",
      L * (block + attention) + head, L * block, L * attention, head, at::get_num_threads());
}
