#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace monomorph {

/// A GPU that this program could use.
struct Gpu {
  std::string name;  ///< as CUDA reports it: the key of the peak table
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
};

/// The machine's GPUs; none in a build without CUDA, without a driver, or without a GPU.
std::vector<Gpu> gpus();

}  // namespace monomorph
