#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <vector>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Of the thread that runs.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

/// Runs kernels on a CPU, one block after the other. The threads of a block are contexts that take turns: each runs
/// until it waits for others, at a barrier or within its warp (docs/why/emulator.md).
namespace monomorph::emulator {

/// A kernel does what CUDA does not define: threads do not meet where others wait for them, or name a lane that does
/// not come.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// In which order lanes, warps and blocks take turns. A warp runs as far as it comes without the others.
struct Schedule {
  enum class Order { forward, backward, random };
  Order order = Order::forward;
  std::uint64_t seed = 0;
};
/// That of the launches to come.
Schedule& schedule();
/// Calls f under several of them, and under one with grids of few blocks, so that threads take several turns. If
/// someone looks on, the first one stands for those of usual grids: races of blocks show in each.
void for_each_schedule(const std::function<void()>& f);

/// Calls `thread` for each thread of the grid.   @throws Fault
void run(dim3 grid, dim3 block, std::size_t dynamic_bytes, const std::function<void()>& thread);

/// Looks on while kernels run. What their threads do to memory it learns from elsewhere (block_races.hpp).
class Onlooker {
 public:
  virtual ~Onlooker() = default;
  virtual void launch_begins(dim3 grid) = 0;
  /// @param number of the grid's blocks, with x first
  virtual void block_begins(std::uint64_t number) = 0;
  /// Memory that threads of the block share, which nobody has used yet.
  virtual void block_gets(const void* memory, std::size_t bytes) = 0;
  virtual void launch_ends() = 0;
};
inline Onlooker* onlooker = nullptr;  ///< if any

/// Where the stack of the thread that runs lies in memory, or null.
inline const std::byte* stack_of_thread = nullptr;
inline constexpr std::size_t stack_bytes = 128 << 10;  // the terms of a sum, which each thread copies, are 18 KiB

using Where = std::source_location;

// For threads that run.

/// @return whether any thread of the block gives true
bool barrier(Where where, bool value = false);
/// What the lane `source` gives; lanes of `mask` take part.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Where where);
/// A bit for each lane of `mask` that gives true.
unsigned vote(unsigned mask, bool value, Where where);
unsigned lane();
/// Memory of the block: the same for the same key while the block runs. It is of no value before it is written: all
/// bytes are 0xFF, which are NaNs and negative integers.
void* block_memory(const void* key, std::size_t bytes);
void* dynamic_memory();

}  // namespace monomorph::emulator
