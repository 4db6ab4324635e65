#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

/// What the host asks CUDA's libraries for, counted by libraries that do nothing else (bench/gpu/host_calls.cpp): what
/// a step then takes of the processor's time is what our own code takes.
namespace bench::host {

enum class Call {
  kernel,       ///< of ours
  product,      ///< by cuBLASLt
  attention,    ///< by cuDNN
  copy,         ///< or fill
  event,        ///< recorded, or waited for by a stream
  graph,        ///< that was recorded
  wait,         ///< of the host, or its question whether something is done
  description,  ///< of a product, to cuBLASLt
  memory,       ///< asked for or freed
  other
};
inline constexpr std::size_t n_kinds = static_cast<std::size_t>(Call::other) + 1;

struct Calls {
  std::array<std::int64_t, n_kinds> by_kind{};
  std::int64_t nodes = 0;  ///< what the graphs that were recorded have of kernels, products, attention and copies
  bool records = false;    ///< what streams are given becomes a part of a graph
};
inline Calls calls;

inline void count(Call kind) {
  ++calls.by_kind[static_cast<std::size_t>(kind)];
  if (calls.records && kind < Call::event) ++calls.nodes;
}

}  // namespace bench::host
