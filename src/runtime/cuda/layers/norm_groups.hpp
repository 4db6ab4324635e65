#pragma once
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/sums/team_total.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <bit>
#include <stdexcept>

/// What kernels of norms share. A group is the H features that are normalised together; a row has G groups, group g is
/// group g % G of row g / G. A team, which is a run of lanes or a block, takes a group, and a thread of it packs of the
/// group that lie a team's packs apart. Views that are not aligned are read and written element by element, but in the
/// same packs: sums have one order.
namespace monomorph::cuda {
namespace {

/// Threads of a block whose teams are runs of lanes, and the most of one that is a team.
constexpr int warps_threads = 128, most_threads = 512;

template <class S> struct Statistics { S mean, rstd; };

struct Groups {
  int count, per_row, features;
  __device__ std::int64_t offset(int group, std::int64_t stride) const {
    if (per_row == 1) return group * stride;
    return group / per_row * stride + std::int64_t{group % per_row} * features;
  }
};

inline Groups groups_of(const View& x, const View& weight) {
  const std::int64_t features = weight.shape.cols, per_row = x.shape.cols / features, count = x.shape.rows * per_row;
  if (count > 1 << 30) throw std::logic_error("norms on GPUs have at most 2^30 groups");
  return {static_cast<int>(count), static_cast<int>(per_row), static_cast<int>(features)};
}

/// Whether all groups begin as packs do, and end as they do.
template <class... Views> bool groups_of_packs(const Groups& groups, int width, const Views&... views) {
  return groups.features % width == 0 && (rows_start_access(views) && ...);
}

/// A thread's place in a team.
struct Member {
  int index, team;
  template <int width> __device__ int column(int pack) const { return (pack * team + index) * width; }
};

/// Whether element i of a pack is one of the group's.
template <bool packed> __device__ bool in_group(int column, int i, int features) {
  return (packed ? column : column + i) < features;
}

/// The pack at a column of a group, as it is stored; zeros after the group's end.
template <int width, bool packed, class T>
__device__ Pack<T, width> group_pack(const T* group, int column, int features) {
  Pack<T, width> pack{};
  if constexpr (packed) {
    if (column < features) pack = *reinterpret_cast<const Pack<T, width>*>(group + column);
  } else {
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i)
      if (column + i < features) pack.at[i] = group[column + i];
  }
  return pack;
}

template <bool packed, class S, int width, class T>
__device__ void write_group_pack(const Pack<S, width>& pack, T* group, int column, int features) {
  if constexpr (packed) {
    if (column < features) write_pack(pack, group + column);
  } else {
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i)
      if (column + i < features) group[column + i] = converted<T>(pack.at[i]);
  }
}

/// A pack that waits for its use in the registers of its bytes. What a compiler sees through it takes apart, and keeps
/// each element, or what it is converted to, in a register of its own, of which there are too few.
template <class T, int width> class HeldPack {
 public:
  HeldPack() = default;
  __device__ explicit HeldPack(const Pack<T, width>& pack) : words_(std::bit_cast<Words>(pack)) {}
  __device__ Pack<T, width> pack() {
    MONOMORPH_UNROLL
    for (std::uint32_t& word : words_.at) asm volatile("" : "+r"(word));
    return std::bit_cast<Pack<T, width>>(words_);
  }

 private:
  struct Words {
    std::uint32_t at[sizeof(Pack<T, width>) / sizeof(std::uint32_t)];
  };
  Words words_{};
};

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
inline int round_up(int n, int multiple) { return ceil_div(n, multiple) * multiple; }

/// Lanes for a group of so few packs that one each is enough: a power of two.
inline int lanes_for(int packs) {
  return static_cast<int>(smaller_of(std::bit_ceil(static_cast<unsigned>(packs)), warp_lanes));
}

}  // namespace
}  // namespace monomorph::cuda
