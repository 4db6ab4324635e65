#pragma once
#include <string_view>
#include <utility>

/// Instruction sets. src/runtime/isa/*.cpp are compiled once for each, into namespace monomorph::cpu::<set>; the
/// processor decides at start-up which of them runs. What is compiled for a wide set must have no inline function of
/// external linkage in it: the linker might keep that copy for all callers.
namespace monomorph::detail {

enum class Isa { generic, avx2, avx512 };

bool processor_has(Isa isa);
/// The widest that the processor has, or what MONOMORPH_ISA names, which also limits LibTorch if nothing of it has run.
/// @throws UsageError [RUN-18] the processor has no such set
Isa active_isa();
void use_isa(Isa isa);  ///< for tests
std::string_view name_of(Isa isa);

template <class Function> Function* select_isa(Function* generic, Function* avx2, Function* avx512) {
  const Isa isa = active_isa();
  return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : generic;
}

}  // namespace monomorph::detail

#if defined(__x86_64__)
#define MONOMORPH_PER_ISA(...) \
  namespace generic {          \
  __VA_ARGS__;                 \
  }                            \
  namespace avx2 {             \
  __VA_ARGS__;                 \
  }                            \
  namespace avx512 {           \
  __VA_ARGS__;                 \
  }
#define MONOMORPH_SELECT(function) \
  ::monomorph::detail::select_isa(&generic::function, &avx2::function, &avx512::function)
#else
#define MONOMORPH_PER_ISA(...) \
  namespace generic {          \
  __VA_ARGS__;                 \
  }
#define MONOMORPH_SELECT(function) (&generic::function)
#endif
