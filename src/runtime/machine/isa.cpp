#include "runtime/machine/isa.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <string>

namespace monomorph::detail {

bool processor_has([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return isa == Isa::generic || (isa == Isa::avx2 && avx2) || (isa == Isa::avx512 && avx512);
#else
  return isa == Isa::generic;
#endif
}

namespace {

constexpr Isa widest_first[] = {Isa::avx512, Isa::avx2, Isa::generic};

Isa isa_of_name(std::string_view name) {
  std::string known;
  for (const Isa isa : widest_first) {
    if (!processor_has(isa)) continue;
    if (name_of(isa) == name) return isa;
    known += (known.empty() ? "" : ", ") + std::string(name_of(isa));
  }
  throw UsageError("RUN-18", fmt::format("MONOMORPH_ISA is {}; this processor has {}: take one of these, or unset it",
                                         in_quotes(name), known));
}

/// LibTorch and the libraries in it choose for themselves when they are first used, each by a variable of its own.
void limit_libraries(Isa isa) {
  if (isa == Isa::avx512) return;
  const bool avx2 = isa == Isa::avx2;
  setenv("ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "default", 0);
  setenv("MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "SSE4_2", 0);
  setenv("ONEDNN_MAX_CPU_ISA", avx2 ? "AVX2" : "SSE41", 0);
}

Isa isa_at_start() {
  const char* const name = std::getenv("MONOMORPH_ISA");
  if (name == nullptr || *name == '\0') return *std::ranges::find_if(widest_first, processor_has);
  const Isa isa = isa_of_name(name);
  limit_libraries(isa);
  return isa;
}

Isa& chosen() {
  static Isa isa = isa_at_start();
  return isa;
}
}  // namespace

Isa active_isa() { return chosen(); }
void use_isa(Isa isa) { chosen() = isa; }
std::string_view name_of(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "generic"; }

}  // namespace monomorph::detail
