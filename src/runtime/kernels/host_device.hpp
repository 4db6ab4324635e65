#pragma once

/// Before a function that kernels on CPUs and on GPUs share.
#ifdef __CUDACC__
#define MONOMORPH_HOST_DEVICE __host__ __device__
#else
#define MONOMORPH_HOST_DEVICE
#endif

/// Before a loop of which a GPU must have no counter, as registers have no index, and before one that is rarely entered
/// and must not take registers from others.
#ifdef __CUDACC__
#define MONOMORPH_UNROLL _Pragma("unroll")
#define MONOMORPH_KEEP_LOOP _Pragma("unroll 1")
#else
#define MONOMORPH_UNROLL
#define MONOMORPH_KEEP_LOOP
#endif
