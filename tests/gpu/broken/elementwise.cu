// Kernels with all that static_gate.py refuses, which shows that it does.

/// Has an array in local memory, as its indices are known only when it runs.
__global__ void count(const unsigned* x, int n, unsigned* counts) {
  unsigned found[32] = {};
  for (int i = 0; i < n; ++i) ++found[x[i] % 32];
  for (int i = 0; i < 32; ++i) counts[i] = found[i];
}

/// One element at once, in an instance that says that it takes eight; the others do as they say.
template <int width, class T> __global__ void gather(const T* x, T* y) {
  if constexpr (width == 4)
    reinterpret_cast<uint4*>(y)[threadIdx.x] = reinterpret_cast<const uint4*>(x)[threadIdx.x];
  else
    for (int i = 0; i < width; ++i) y[width * threadIdx.x + i] = x[width * threadIdx.x + i];
}
template __global__ void gather<1, float>(const float*, float*);
template __global__ void gather<4, float>(const float*, float*);
template __global__ void gather<8, unsigned short>(const unsigned short*, unsigned short*);

/// Adds in the order in which threads come.
__global__ void add_up_parts(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }

/// Likewise, where there is no instruction for it.
__global__ void add_losses(const float* x, unsigned* sum) {
  unsigned before = *sum, found;
  while ((found = atomicCAS(sum, before, __float_as_uint(__uint_as_float(before) + x[threadIdx.x]))) != before)
    before = found;
}
