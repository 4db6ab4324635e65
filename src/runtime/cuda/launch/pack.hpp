#pragma once
#include "runtime/kernels/elements.hpp"

#include <monomorph/core/dtype.hpp>

#include <cuda_runtime.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace monomorph::cuda {

/// What a thread reads or writes at once where it can: the widest access that a GPU has.
inline constexpr std::size_t access_bytes = 16;

inline bool starts_access(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % access_bytes == 0; }

/// How many elements of some types a thread takes at once: what fills an access of the narrowest of them, but no more
/// than two of the widest, as registers are few.
template <class... T> constexpr int pack_width() {
  std::size_t narrowest = access_bytes, widest = 0;
  ((narrowest = sizeof(T) < narrowest ? sizeof(T) : narrowest, widest = sizeof(T) > widest ? sizeof(T) : widest), ...);
  const std::size_t of_narrowest = access_bytes / narrowest, of_widest = 2 * access_bytes / widest;
  return static_cast<int>(of_narrowest < of_widest ? of_narrowest : of_widest);
}

/// `width` elements side by side, in as few accesses as can be.
template <class T, int width> struct alignas(sizeof(T) * width < access_bytes ? sizeof(T) * width : access_bytes) Pack {
  T at[width];
};

template <class T, int width>
MONOMORPH_HOST_DEVICE Pack<T, width> operator+(const Pack<T, width>& a, const Pack<T, width>& b) {
  Pack<T, width> sum;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) sum.at[i] = a.at[i] + b.at[i];
  return sum;
}

template <class To, class From> MONOMORPH_HOST_DEVICE To converted(From x) {
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (sizeof(From) == 2) {  // bf16 or fp16
    return converted<To>(widen(x));
  } else if constexpr (sizeof(To) == 2) {
    To narrowed;
    narrow(static_cast<float>(x), narrowed);
    return narrowed;
  } else {
    return static_cast<To>(x);
  }
}

/// The pack at an address, as S.
template <class S, int width, class T> MONOMORPH_HOST_DEVICE Pack<S, width> read_pack(const T* from) {
  const auto stored = *reinterpret_cast<const Pack<T, width>*>(from);
  Pack<S, width> pack;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) pack.at[i] = converted<S>(stored.at[i]);
  return pack;
}

template <class S, int width, class T> MONOMORPH_HOST_DEVICE void write_pack(const Pack<S, width>& pack, T* to) {
  Pack<T, width> stored;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) stored.at[i] = converted<T>(pack.at[i]);
  *reinterpret_cast<Pack<T, width>*>(to) = stored;
}

/// write_pack to a GPU's global memory, for kernels of which nvcc does not see that elements lie side by side, as they
/// write several packs to one matrix: a pack of 16 bytes is one access nevertheless.
template <class S, int width, class T> __device__ void write_global_pack(const Pack<S, width>& pack, T* to) {
  if constexpr (sizeof(Pack<T, width>) == sizeof(uint4)) {
    Pack<T, width> stored;
    write_pack(pack, stored.at);
    __stwb(reinterpret_cast<uint4*>(to), std::bit_cast<uint4>(stored));
  } else {
    write_pack(pack, to);
  }
}

/// Elements of a dtype that is known when a kernel runs. All threads take the branch alike, so that it costs a kernel
/// little where it has much else to do; nvcc would compile one for each dtype (docs/why/build_time.md). They lie in a
/// GPU's global memory.
struct AnyElements {
  void* data;   ///< or null
  DType dtype;  ///< of 16 bits or more; who starts the kernel checks it
  MONOMORPH_HOST_DEVICE bool present() const { return data != nullptr; }
};
template <class S> MONOMORPH_HOST_DEVICE S read_element(const AnyElements& from, std::int64_t at) {
  switch (from.dtype) {
    case DType::fp64:
      return converted<S>(static_cast<const double*>(from.data)[at]);
    case DType::bf16:
      return converted<S>(static_cast<const BFloat16*>(from.data)[at]);
    case DType::fp16:
      return converted<S>(static_cast<const Half*>(from.data)[at]);
    default:
      return converted<S>(static_cast<const float*>(from.data)[at]);
  }
}
/// Of fp64 only what is computed in it.
template <class S, int width>
__device__ void write_pack(const Pack<S, width>& pack, const AnyElements& to, std::int64_t first) {
  if constexpr (std::same_as<S, double>)
    if (to.dtype == DType::fp64) return write_global_pack(pack, static_cast<double*>(to.data) + first);
  if (to.dtype == DType::bf16)
    write_global_pack(pack, static_cast<BFloat16*>(to.data) + first);
  else if (to.dtype == DType::fp16)
    write_global_pack(pack, static_cast<Half*>(to.data) + first);
  else
    write_global_pack(pack, static_cast<float*>(to.data) + first);
}

}  // namespace monomorph::cuda
