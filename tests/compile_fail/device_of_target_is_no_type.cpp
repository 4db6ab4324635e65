// expect-error: \[RECIPE-06\] device must be a type
#include "support/control.hpp"
struct Own : monomorph::device::Cpu {
  static constexpr std::string_view name = "Own";
};
struct Recipe : Control {
#if NEGATIVE
  static constexpr int device = 1;
#endif
};
static_assert(monomorph::admit<monomorph::On<Recipe, Own>>());
