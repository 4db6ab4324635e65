#include "runtime/isa.hpp"

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
Isa& chosen() {
  static Isa isa = processor_has(Isa::avx512) ? Isa::avx512 : processor_has(Isa::avx2) ? Isa::avx2 : Isa::generic;
  return isa;
}
}  // namespace

Isa active_isa() { return chosen(); }
void use_isa(Isa isa) { chosen() = isa; }
std::string_view name_of(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "generic"; }

}  // namespace monomorph::detail
