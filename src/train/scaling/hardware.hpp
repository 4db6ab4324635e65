#pragma once
#include <monomorph/core/dtype.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace monomorph::train {

/// By what share of its peak large products reach.
enum class GpuKind {
  ampere,
  hopper,
  hopper_hbm2e,  ///< H100s with older memory, and less power for both
  blackwell,
};

/// A GPU by its data sheet. Rates are per second, bandwidths in bytes and in one direction.
struct GpuSpec {
  std::string_view name;    ///< as the command line has it
  std::string_view device;  ///< as the table of peaks has it (train/report/peak_flops.hpp)
  GpuKind kind;
  double peak_ratio;  ///< of its peak to that of the table: another number of multiprocessors
  std::int64_t memory_bytes;
  double memory_bandwidth;
  double nvlink_bandwidth;  ///< with the other GPUs of its node
  double host_bandwidth;    ///< with the memory of its host
  bool is_alone = true;     ///< no other GPU of this device has as much memory, so that a driver tells it by that
};

/// What connects nodes, as each GPU has it.
struct NetworkSpec {
  std::string_view name;
  double bandwidth;
  bool is_shared;  ///< by many jobs of a machine, so that a hop takes Calibration::shared_hop_seconds
};

/// The GPUs that a run works on.
struct Cluster {
  const GpuSpec* gpu = nullptr;
  const NetworkSpec* network = nullptr;  ///< null: all ranks are on one node
  int gpus_per_node = 8;
};

std::span<const GpuSpec> gpu_specs();
std::span<const NetworkSpec> network_specs();
/// @return null if there is none of this name
const GpuSpec* find_gpu(std::string_view name);
const NetworkSpec* find_network(std::string_view name);
/// A GPU as its driver names it, with so much memory.   @return null if no data sheet here is of it
const GpuSpec* find_gpu_of_driver(std::string_view device_name, std::int64_t memory_bytes);

/// Dense products with operands of this dtype.   @return 0 if the GPU has no such units
double peak_flops(const GpuSpec& gpu, DType dtype);

}  // namespace monomorph::train
