#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Sums of a group have another order than on CPUs, so statistics and gradients differ by roundings. What is computed of
// each element from the same statistics has the CPU's bits.
namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, cols, features;
};
/// Heads and rows; packs and a rest; teams of lanes, of a warp, of a block, groups that no block holds.
constexpr Size sizes[] = {{1, 1, 1},       {5, 7, 7},       {33, 48, 16},   {9, 384, 128},
                          {70, 192, 64},   {3, 200, 200},   {11, 768, 768}, {2, 1030, 1030},
                          {3, 2048, 2048}, {2, 3001, 3001}, {2, 5000, 5000}};
constexpr Size long_size{2, 17'000, 17'000};
constexpr double epsilon = 1e-5;

DType gradient_of(DType dtype) { return dtype == DType::fp64 ? DType::fp64 : DType::fp32; }

/// What sums of this many terms differ by if their order does.
double tolerance(DType dtype) { return dtype == DType::fp64 ? 1e-14 : 5e-7; }

struct Case {
  Size size;
  DType dtype;
  std::int64_t gap;
  bool layer, has_bias;
  double weight_offset() const { return gap == 16 ? 1 : no_weight_offset; }  ///< of a root-mean-square norm
  std::int64_t groups() const { return size.rows * size.cols / size.features; }
};

void for_each_case(const std::function<void(const Case& c)>& f) {
  const auto run = [&](const Case& c) {
    CAPTURE(name_of(c.dtype), c.size.rows, c.size.cols, c.size.features, c.gap, c.layer, c.has_bias);
    f(c);
  };
  for (const DType dtype : all_dtypes)
    for (const bool layer : {false, true}) {
      for (const Size size : sizes)
        for (const std::int64_t gap : {0, 16, 5}) run({size, dtype, gap, layer, layer == (gap == 0)});
      run({long_size, dtype, 0, layer, layer});
    }
}

/// x, weight, bias (or none) and dy.
std::vector<Storage> inputs_of(const Case& c) {
  Matrix x = random_matrix(c.size.rows, c.size.cols, 1);
  for (double& value : x.values) value += 0.5;
  return {{x, c.dtype, c.gap},
          {random_matrix(1, c.size.features, 2), c.dtype},
          {c.has_bias ? random_matrix(1, c.size.features, 3) : Matrix{}, c.dtype},
          {random_matrix(c.size.rows, c.size.cols, 4), c.dtype, c.gap}};
}

// Outputs of a forward pass: y, mean, rstd.
std::vector<Storage> forward_before(const Case& c) {
  const DType statistics = statistics_dtype(c.dtype);
  return {{random_matrix(c.size.rows, c.size.cols, 5), c.dtype, c.gap},
          {filled(1, c.groups(), 7), statistics},
          {filled(1, c.groups(), 7), statistics}};
}
KernelCall gpu_forward(const Case& c) {
  return [layer = c.layer, offset = c.weight_offset()](const auto& in, const auto& out) {
    if (layer)
      cuda::layer_norm(gpu_queue, in[0], in[1], in[2], epsilon, out[0], out[1], out[2]);
    else
      cuda::rms_norm(gpu_queue, in[0], in[1], in[2], epsilon, out[0], out[2], offset);
  };
}
KernelCall cpu_forward(const Case& c) {
  return [layer = c.layer, offset = c.weight_offset()](const auto& in, const auto& out) {
    if (layer)
      cpu::layer_norm({}, in[0], in[1], in[2], epsilon, out[0], out[1], out[2]);
    else
      cpu::rms_norm({}, in[0], in[1], in[2], epsilon, out[0], out[2], offset);
  };
}

/// What the kernel gives, which has the same bits in every schedule: that is seen with one layout and one dtype, as
/// what these change is the same in all.
std::vector<Storage> same_in_all_schedules(const Case& c, const KernelCall& kernel, const std::vector<Storage>& inputs,
                                           const std::vector<Storage>& before) {
  if (c.gap != 0 || c.dtype != DType::bf16) return outputs_of(kernel, inputs, before);
  std::vector<Storage> first;
  for_each_schedule([&] {
    const auto outputs = outputs_of(kernel, inputs, before);
    if (first.empty()) first = outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK((outputs[i].bytes() == first[i].bytes()));
  });
  return first;
}

/// Relative to the greatest number.
double greatest_error(const Storage& actual, const Storage& expected) {
  const Values a = values_of(actual), e = values_of(expected);
  double error = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::fabs(a[i] - e[i]));
    scale = std::max(scale, std::fabs(e[i]));
  }
  return error == 0 ? 0 : error / scale;
}
/// Of a dtype of 16 bits, a number that is nearly a tie may be rounded otherwise.
double rounding(DType dtype) { return dtype == DType::bf16 ? 0x1p-8 : dtype == DType::fp16 ? 0x1p-11 : 0; }

bool same_gaps(const Storage& actual, const Storage& before) {
  const View view = before.view();
  if (!view.present()) return true;
  const auto width = static_cast<std::size_t>(size_of(view.dtype));
  const std::size_t row = static_cast<std::size_t>(view.stride) * width,
                    used = static_cast<std::size_t>(view.shape.cols) * width;
  for (std::size_t i = 0; i < actual.bytes().size(); ++i)
    if (i % row >= used && actual.bytes()[i] != before.bytes()[i]) return false;
  return true;
}

}  // namespace

TEST_CASE("a GPU's norms are the CPU's but for the order of sums", "[norm]") {
  for_each_case([](const Case& c) {
    const auto in = inputs_of(c), before = forward_before(c);
    const auto actual = same_in_all_schedules(c, gpu_forward(c), in, before);
    const auto expected = outputs_of(cpu_forward(c), in, before);
    CHECK(greatest_error(actual[0], expected[0]) <= tolerance(c.dtype) + rounding(c.dtype));
    CHECK(same_gaps(actual[0], before[0]));
    CHECK(greatest_error(actual[1], expected[1]) <= tolerance(c.dtype));
    CHECK(greatest_error(actual[2], expected[2]) <= tolerance(c.dtype));
  });
}

TEST_CASE("a GPU's norms repeated from saved statistics have the CPU's bits, and those of the forward pass", "[norm]") {
  for_each_case([](const Case& c) {
    const auto in = inputs_of(c), before = forward_before(c);
    const auto first = outputs_of(gpu_forward(c), in, before);
    const std::vector<Storage> from{in[0], in[1], in[2], first[1], first[2]}, y{before[0]};
    const auto gpu = [&](const auto& with, const auto& out) {
      if (c.layer)
        cuda::layer_norm_recompute(gpu_queue, with[0], with[1], with[2], with[3], with[4], out[0]);
      else
        cuda::rms_norm_recompute(gpu_queue, with[0], with[1], with[2], with[4], out[0], c.weight_offset());
    };
    const auto cpu = [&](const auto& with, const auto& out) {
      if (c.layer)
        cpu::layer_norm_recompute({}, with[0], with[1], with[2], with[3], with[4], out[0]);
      else
        cpu::rms_norm_recompute({}, with[0], with[1], with[2], with[4], out[0], c.weight_offset());
    };
    check_same_bits(from, y, gpu, cpu);
    CHECK((outputs_of(gpu, from, y)[0].bytes() == first[0].bytes()));
  });
}

TEST_CASE("a GPU's norm may take its input's place", "[norm]") {
  for (const Size size : {Size{33, 48, 16}, {3, 768, 768}, {2, 3001, 3001}, long_size}) {
    const Case c{size, DType::bf16, 0, true, true};
    const auto in = inputs_of(c), before = forward_before(c);
    const auto apart = outputs_of(gpu_forward(c), in, before);
    const auto in_place = outputs_of(
        [](const auto& with, const auto& out) {
          cuda::layer_norm(gpu_queue, out[0], with[1], with[2], epsilon, out[0], out[1], out[2]);
        },
        in, {in[0], before[1], before[2]});
    CHECK((apart[0].bytes() == in_place[0].bytes()));
  }
}

namespace {

/// dx, dweight and dbias before the backward pass.
std::vector<Storage> backward_before(const Case& c) {
  return {{random_matrix(c.size.rows, c.size.cols, 6), c.dtype, c.gap},
          {random_matrix(1, c.size.features, 7), gradient_of(c.dtype)},
          {c.has_bias ? random_matrix(1, c.size.features, 8) : Matrix{}, gradient_of(c.dtype)}};
}
// From x, weight, bias, dy, mean and rstd.
KernelCall gpu_backward(bool layer, bool add, double offset = no_weight_offset) {
  return [=](const auto& in, const auto& out) {
    if (layer)
      cuda::layer_norm_backward(gpu_queue, in[3], in[0], in[1], in[4], in[5], out[0], add, out[1], out[2], add);
    else
      cuda::rms_norm_backward(gpu_queue, in[3], in[0], in[1], in[5], out[0], add, out[1], out[2], add, offset);
  };
}
KernelCall cpu_backward(bool layer, bool add, double offset = no_weight_offset) {
  return [=](const auto& in, const auto& out) {
    if (layer)
      cpu::layer_norm_backward({}, in[3], in[0], in[1], in[4], in[5], out[0], add, out[1], out[2], add);
    else
      cpu::rms_norm_backward({}, in[3], in[0], in[1], in[5], out[0], add, out[1], out[2], add, offset);
  };
}
/// Those of a forward pass, and its statistics.
std::vector<Storage> backward_inputs(const Case& c) {
  auto in = inputs_of(c);
  const auto statistics = outputs_of(gpu_forward(c), in, forward_before(c));
  in.push_back(statistics[1]);
  in.push_back(statistics[2]);
  return in;
}

void check_backward(const Case& c, bool add) {
  const auto in = backward_inputs(c), before = backward_before(c);
  const auto actual = same_in_all_schedules(c, gpu_backward(c.layer, add, c.weight_offset()), in, before);
  const auto expected = outputs_of(cpu_backward(c.layer, add, c.weight_offset()), in, before);
  if (c.size.features > 1) CHECK(greatest_error(actual[0], expected[0]) <= 4 * tolerance(c.dtype) + rounding(c.dtype));
  CHECK(same_gaps(actual[0], before[0]));
  CHECK(greatest_error(actual[1], expected[1]) <= 4 * tolerance(c.dtype));
  CHECK(greatest_error(actual[2], expected[2]) <= 4 * tolerance(c.dtype));
}

}  // namespace

TEST_CASE("gradients of a GPU's norms are the CPU's but for the order of sums", "[norm]") {
  for_each_case([](const Case& c) { check_backward(c, c.gap == 16); });
}

TEST_CASE("gradients of a GPU's norms of many groups are the CPU's but for the order of sums", "[norm]") {
  for (const DType dtype : {DType::fp32, DType::bf16})
    for (const Size size : {Size{2000, 6, 3}, {700, 128, 64}, {6000, 24, 24}, {1200, 264, 264}}) {
      CAPTURE(name_of(dtype), size.rows, size.features);
      check_backward({size, dtype, 0, true, true}, false);
    }
}

TEST_CASE("the bits of a GPU's norms and of their gradients do not depend on where rows lie", "[norm]") {
  const bool layer = GENERATE(true, false);
  for (const Size size : {Size{9, 384, 128}, {11, 768, 768}, {2, 3000, 3000}, {2, 5000, 5000}, long_size}) {
    CAPTURE(size.cols, layer);
    const auto values = [&](std::int64_t gap) {
      const Case c{size, DType::fp32, gap, layer, true};
      std::vector<Values> all;
      for (const Storage& output : outputs_of(gpu_forward(c), inputs_of(c), forward_before(c)))
        all.push_back(values_of(output));
      for (const Storage& output : outputs_of(gpu_backward(layer, false), backward_inputs(c), backward_before(c)))
        all.push_back(values_of(output));
      return all;
    };
    CHECK((values(0) == values(5)));
  }
}

TEST_CASE("the gradient of a GPU's norm may take that of its output's place, and needs none of parameters", "[norm]") {
  for (const Size size : {Size{33, 48, 16}, {3, 768, 768}, {2, 2048, 2048}, {2, 5000, 5000}, long_size}) {
    CAPTURE(size.cols);
    const Case c{size, DType::fp32, 0, true, true};
    const auto in = backward_inputs(c), before = backward_before(c);
    const auto apart = outputs_of(gpu_backward(true, false), in, before);
    const auto in_place = outputs_of(
        [](const auto& with, const auto& out) {
          cuda::layer_norm_backward(gpu_queue, out[0], with[0], with[1], with[4], with[5], out[0], false, out[1],
                                    View{}, false);
        },
        in, {in[3], before[1]});
    CHECK((apart[0].bytes() == in_place[0].bytes()));
    CHECK((apart[1].bytes() == in_place[1].bytes()));
    const auto frozen = outputs_of(
        [](const auto& with, const auto& out) {
          cuda::layer_norm_backward(gpu_queue, with[3], with[0], with[1], with[4], with[5], out[0], false, View{},
                                    View{}, false);
        },
        in, {before[0]});
    CHECK((apart[0].bytes() == frozen[0].bytes()));
  }
}

}  // namespace monomorph::emulator
