#include "emulator/gpu_case.hpp"
#include "emulator/moved_numbers.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace monomorph::emulator {
namespace {

constexpr random::Stream stream{7, random::Purpose::initialization, 1, 2};
constexpr DType drawn_dtypes[] = {DType::fp32, DType::bf16, DType::fp16};

template <class Gpu, class Cpu> void check_filled(std::int64_t n, DType dtype, Gpu gpu, Cpu cpu) {
  check_same_bits(
      {}, {Storage(filled(1, n, 1), dtype)}, [&](const auto&, const auto& out) { gpu(out[0]); },
      [&](const auto&, const auto& out) { cpu(out[0]); });
}

void check_normal(std::int64_t n, DType dtype, const cuda::NormalRun& run, const cuda::NormalDrawing& drawing) {
  check_filled(
      n, dtype, [&](View x) { cuda::fill_normal(gpu_queue, x, run, drawing); },
      [&](View x) { random::normal(x, run.stream, run.first, run.std, run.cutoff); });
}

/// What drawing leaves: elements, and the numbers of those that the host is to draw, in order.
struct Drawn {
  Storage x;
  std::vector<std::uint32_t> undecided;
};
Drawn drawn(std::int64_t n, DType dtype, const cuda::NormalRun& run, const cuda::NormalDrawing& drawing) {
  const Storage x(filled(1, n, 0), dtype);
  std::uint32_t count = 0;
  std::vector<std::uint32_t> elements(static_cast<std::size_t>(n));
  drawing.draw(gpu_queue, writable(x), run, drawing.margin, {&count, elements.data(), static_cast<std::uint32_t>(n)});
  elements.resize(count);
  std::sort(elements.begin(), elements.end());
  return {x, elements};
}
Values exact(std::int64_t n, const cuda::NormalRun& run) {
  const Storage x(filled(1, n, 0), DType::fp64);
  random::normal(writable(x), run.stream, run.first, run.std, run.cutoff);
  return values_of(x);
}

/// From x to where the fp32 value changes to which it is rounded.
double distance_to_tie(double x) {
  const auto rounded = static_cast<float>(x);
  constexpr float most = std::numeric_limits<float>::infinity();
  const auto tie = [&](float to) { return (static_cast<double>(rounded) + std::nextafter(rounded, to)) / 2; };
  return std::min(std::fabs(x - tie(most)), std::fabs(x - tie(-most)));
}

}  // namespace

TEST_CASE("first values have the CPU's bits, wherever a view begins and ends", "[random]") {
  for (const DType dtype : all_dtypes)
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{13}, (std::uint64_t{1} << 34) + 6})
      for (const std::int64_t n : {1, 4, 7, 2051}) {
        CAPTURE(name_of(dtype), first, n);
        for (const double cutoff : {0.0, 2.0, 3.0})
          check_filled(
              n, dtype, [&](View x) { cuda::fill_normal(gpu_queue, x, stream, first, 0.02, cutoff); },
              [&](View x) { random::normal(x, stream, first, 0.02, cutoff); });
        check_filled(
            n, dtype, [&](View x) { cuda::fill_uniform(gpu_queue, x, stream, first, 0.3); },
            [&](View x) { random::symmetric_uniform(x, stream, first, 0.3); });
      }
}

TEST_CASE("first values at any place of memory leave what is beside them", "[random]") {
  for (const DType dtype : drawn_dtypes)
    for (const std::int64_t begin : {1, 2, 3, 4})
      for (const std::uint64_t first : {0, 1, 2, 3}) {
        CAPTURE(name_of(dtype), begin, first);
        const auto within = [&](View x) { return x.columns(begin, 301); };
        check_filled(
            310, dtype, [&](View x) { cuda::fill_normal(gpu_queue, within(x), stream, first, 0.02, 0); },
            [&](View x) { random::normal(within(x), stream, first, 0.02, 0); });
        check_filled(
            310, dtype, [&](View x) { cuda::fill_uniform(gpu_queue, within(x), stream, first, 0.5); },
            [&](View x) { random::symmetric_uniform(within(x), stream, first, 0.5); });
      }
}

TEST_CASE("first values that overflow or underflow have the CPU's bits", "[random]") {
  for (const DType dtype : drawn_dtypes)
    for (const double std : {1e-46, 1e-40, 1e-7, 3e4, 2e38}) {
      CAPTURE(name_of(dtype), std);
      check_normal(3001, dtype, {stream, 5, std, 0}, {});
    }
}

TEST_CASE("what a GPU cannot decide is drawn by the host, or all if that is too much", "[random]") {
  constexpr std::int64_t n = 3001;
  for (const DType dtype : drawn_dtypes)
    for (const double cutoff : {0.0, 2.0}) {
      CAPTURE(name_of(dtype), cutoff);
      const cuda::NormalRun run{stream, 13, 0.02, cutoff};
      for (const double margin : {0x1p-24, 0x1p-12, 0.5}) {
        CAPTURE(margin);
        const std::size_t undecided = drawn(n, dtype, run, {.margin = margin}).undecided.size();
        if (margin > 0x1p-24) REQUIRE(undecided > 2);
        check_normal(n, dtype, run, {.margin = margin});
        check_normal(n, dtype, run, {.margin = margin, .capacity = 2});
        check_normal(n, dtype, run, {.at_once = 701, .margin = margin});
        check_normal(n, dtype, run, {.margin = margin, .capacity = static_cast<std::uint32_t>(undecided)});
      }
    }
}

TEST_CASE("numbers that are wrong within the margin change no bit", "[random]") {
  constexpr std::int64_t n = 5003;
  constexpr double margin = 0x1p-13;
  for (const DType dtype : drawn_dtypes)
    for (const double cutoff : {0.0, 2.0}) {
      CAPTURE(name_of(dtype), cutoff);
      const cuda::NormalRun run{stream, 13, 0.02, cutoff};
      const cuda::NormalDrawing moved{.draw = draw_moved, .margin = margin};
      CHECK_FALSE((drawn(n, dtype, run, moved).x.bytes() == drawn(n, dtype, run, {}).x.bytes()));  // they are wrong
      check_normal(n, dtype, run, moved);
    }
}

TEST_CASE("listed are the elements next to a tie, and no others", "[random]") {
  constexpr std::int64_t n = 20'000;
  for (const double cutoff : {0.0, 3.0}) {
    const cuda::NormalRun run{stream, 2, 0.02, cutoff};
    const cuda::NormalDrawing drawing{.margin = 0x1p-32};
    const Values numbers = exact(n, run);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < n; ++i)
      if (distance_to_tie(numbers[i]) < drawing.margin * run.std) expected.push_back(i);
    CHECK(expected.size() > 50);
    CHECK(drawn(n, DType::fp32, run, drawing).undecided == expected);
  }
}

TEST_CASE("a GPU leaves few elements to the host", "[random]") {
  constexpr std::int64_t n = 1 << 18;
  for (const DType dtype : drawn_dtypes)
    for (const double cutoff : {0.0, 3.0}) {
      CAPTURE(name_of(dtype), cutoff);
      const auto undecided = drawn(n, dtype, {stream, 0, 0.02, cutoff}, {}).undecided.size();
      CHECK(undecided <= (dtype == DType::fp32 ? n / 5'000 : n / 50'000));
    }
}

TEST_CASE("a GPU draws nothing of a view that is not there", "[random]") {
  CHECK_FALSE(starts_kernel([] { cuda::fill_normal(gpu_queue, View{}, stream, 0, 1, 0); }));
  CHECK_FALSE(starts_kernel([] { cuda::fill_uniform(gpu_queue, View{}, stream, 0, 1); }));
}

}  // namespace monomorph::emulator
