// Times tiled attention under sliding windows, forward and backward: attention_windows T SECONDS prints a line of JSON
// with the median milliseconds by window; 0 is causal attention without one.
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/machine/parallel.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

using namespace monomorph;

namespace {

constexpr std::int64_t heads = 8, head_dim = 64, width = heads * head_dim;

/// fp32 (rows, cols) with memory of its own.
struct Matrix {
  std::vector<float> values;
  Shape shape;
  Matrix(std::int64_t rows, std::int64_t cols) : values(static_cast<std::size_t>(rows * cols)), shape{rows, cols} {
    std::mt19937 generator(3);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(generator);
  }
  View view() { return {reinterpret_cast<std::byte*>(values.data()), DType::fp32, shape}; }
};

struct Problem {
  std::int64_t T;
  Matrix qkv{T, 3 * width}, out{T, width}, lse{heads, T}, dout{T, width}, dqkv{T, 3 * width};
  AttentionShape shape{1, T, heads, heads, head_dim, 0.125};
  static View third(Matrix& x, std::int64_t i) { return x.view().columns(i * width, width); }

  void forward(const AttentionMask& mask) {
    cpu::tiled_attention(cpu::Queue{}, third(qkv, 0), third(qkv, 1), third(qkv, 2), out.view(), lse.view(), shape,
                         mask);
  }
  void backward(const AttentionMask& mask) {
    cpu::tiled_attention_backward(cpu::Queue{}, third(qkv, 0), third(qkv, 1), third(qkv, 2), out.view(), lse.view(),
                                  dout.view(), third(dqkv, 0), third(dqkv, 1), third(dqkv, 2), shape, mask);
  }
};

template <class F> double milliseconds(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "attention_windows T SECONDS\n"), 2;
  Problem problem{std::atoll(argv[1])};
  const double seconds = std::atof(argv[2]);
  const std::vector<std::int64_t> windows{0, 128, 256, 512, 1024};
  std::vector<std::vector<double>> forward(windows.size()), backward(windows.size());
  double spent = 0;
  while (spent < 1000 * seconds)  // windows take turns, so that what else runs is shared among them
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const AttentionMask mask = windows[i] == 0 ? AttentionMask{} : AttentionMask{.before = windows[i] - 1};
      forward[i].push_back(milliseconds([&] { problem.forward(mask); }));
      backward[i].push_back(milliseconds([&] { problem.backward(mask); }));
      spent += forward[i].back() + backward[i].back();
    }
  std::string text;
  for (std::size_t i = 0; i < windows.size(); ++i)
    text += fmt::format("{}{{\"window\": {}, \"pairs\": {}, \"forward_ms\": {:.3f}, \"backward_ms\": {:.3f}}}",
                        i == 0 ? "" : ", ", windows[i],
                        AttentionMask{.before = windows[i] == 0 ? AttentionMask::unlimited : windows[i] - 1}.pairs(
                            problem.T),
                        median(forward[i]), median(backward[i]));
  fmt::print("{{\"T\": {}, \"threads\": {}, \"windows\": [{}]}}\n", problem.T, compute_threads(), text);
}
