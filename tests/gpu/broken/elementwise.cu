// Kernels with all that static_gate.py refuses, which shows that it does.

/// Has an array in local memory, as its indices are known only when it runs.
__global__ void count(const unsigned* x, int n, unsigned* counts) {
  unsigned found[32] = {};
  for (int i = 0; i < n; ++i) ++found[x[i] % 32];
  for (int i = 0; i < 32; ++i) counts[i] = found[i];
}

/// Adds in the order in which threads come.
__global__ void add_up_parts(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }

/// Likewise, where there is no instruction for it.
__global__ void add_losses(const float* x, unsigned* sum) {
  unsigned before = *sum, found;
  while ((found = atomicCAS(sum, before, __float_as_uint(__uint_as_float(before) + x[threadIdx.x]))) != before)
    before = found;
}
