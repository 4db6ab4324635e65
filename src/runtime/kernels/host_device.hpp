#pragma once

/// Before a function that kernels on CPUs and on GPUs share. Of those for GPUs the emulator is one.
#ifdef __CUDACC__
#define MONOMORPH_HOST_DEVICE __host__ __device__
#else
#define MONOMORPH_HOST_DEVICE
#endif

/// Before a loop of which a GPU must have no counter, as registers have no index; before one that is rarely entered and
/// must not take registers from others; and before one of which a few turns at once hide what memory takes.
#ifdef __CUDACC__
#define MONOMORPH_UNROLL _Pragma("unroll")
#define MONOMORPH_KEEP_LOOP _Pragma("unroll 1")
#define MONOMORPH_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define MONOMORPH_UNROLL
#define MONOMORPH_KEEP_LOOP
#define MONOMORPH_UNROLL_BY_4
#endif
