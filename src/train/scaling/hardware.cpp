#include "train/scaling/hardware.hpp"

#include <monomorph/train/report/peak_flops.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

constexpr double giga = 1e9;
constexpr std::int64_t gib = std::int64_t{1} << 30, gb = 1'000'000'000;

// NVIDIA's data sheets: A100 80GB and 40GB SXM, H100 SXM, H200 SXM, HGX B200 (an eighth of it). NVLink's figures there
// add up both directions. The host is reached by PCI Express 4.0 or 5.0 with 16 lanes, 32 or 64 GB/s, of which about
// four fifths arrive.
constexpr GpuSpec gpus[] = {
    {"a100", "A100", GpuKind::ampere, 1, 80 * gib, 2039 * giga, 300 * giga, 25 * giga},
    {"a100-40gb", "A100", GpuKind::ampere, 1, 40 * gib, 1555 * giga, 300 * giga, 25 * giga},
    {"h100", "H100", GpuKind::hopper, 1, 80 * gib, 3350 * giga, 450 * giga, 50 * giga},
    {"h200", "H200", GpuKind::hopper, 1, 141 * gb, 4800 * giga, 450 * giga, 50 * giga},
    {"b200", "B200", GpuKind::blackwell, 1, 180 * gb, 8000 * giga, 900 * giga, 50 * giga},
    // Leonardo's own A100 (Turisini et al. 2023, "LEONARDO: a pan-European pre-exascale supercomputer"): 124
    // multiprocessors in place of 108, four of them to a node.
    {"a100-leonardo", "A100", GpuKind::ampere, 124.0 / 108, 64 * gib, 1640 * giga, 300 * giga, 25 * giga},
    // That of torchtitan's authors: HBM2e, and 500 of 700 W. Others with 96 GB have HBM3.
    {"h100-500w", "H100", GpuKind::hopper_hbm2e, 1, 96 * gb, 2400 * giga, 450 * giga, 50 * giga, false},
    // MareNostrum 5's H100 with 64 GB of HBM2e, four of them to a node (the centre's documentation).
    {"h100-marenostrum5", "H100", GpuKind::hopper_hbm2e, 1, 64 * gib, 2020 * giga, 450 * giga, 50 * giga},
};

// The rates of InfiniBand's generations, one adapter a GPU: EDR or HDR100, HDR or NDR200, NDR, XDR. Ethernet with
// RDMA, of which nodes of eight GPUs have 400 or 800 Gbit/s.
constexpr NetworkSpec networks[] = {
    {"ethernet50", 6.25 * giga, false},
    {"ethernet100", 12.5 * giga, false},
    {"infiniband100", 12.5 * giga, false},
    {"infiniband200", 25 * giga, false},
    {"infiniband400", 50 * giga, false},
    {"infiniband800", 100 * giga, false},
    // Four ports of HDR100 a node, and a dragonfly+ that all the machine's jobs use (Turisini et al. 2023).
    {"leonardo", 12.5 * giga, true},
};

template <class Spec> const Spec* find(std::span<const Spec> specs, std::string_view name) {
  const auto found = std::ranges::find(specs, name, &Spec::name);
  return found == specs.end() ? nullptr : &*found;
}

}  // namespace

std::span<const GpuSpec> gpu_specs() { return gpus; }
std::span<const NetworkSpec> network_specs() { return networks; }
const GpuSpec* find_gpu(std::string_view name) { return find(gpu_specs(), name); }
const NetworkSpec* find_network(std::string_view name) { return find(network_specs(), name); }

const GpuSpec* find_gpu_of_driver(std::string_view device_name, std::int64_t memory_bytes) {
  constexpr double most_difference = 0.1;  // between what a data sheet rounds and what a driver counts
  const auto row = peak_from_table(device_name, MatmulType::bf16);
  if (!row) return nullptr;
  const auto found = std::ranges::find_if(gpus, [&](const GpuSpec& gpu) {
    const double there = static_cast<double>(gpu.memory_bytes), here = static_cast<double>(memory_bytes);
    return gpu.is_alone && gpu.device == row->source && std::abs(here - there) <= most_difference * there;
  });
  return found == std::end(gpus) ? nullptr : found;
}

double peak_flops(const GpuSpec& gpu, DType dtype) {
  if (dtype == DType::fp64) return 0;  // the table has no such rates
  const auto peak = peak_from_table(gpu.device, matmul_type(dtype));
  return peak ? gpu.peak_ratio * peak->per_second : 0;
}

}  // namespace monomorph::train
