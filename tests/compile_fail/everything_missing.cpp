// expect-error: \[RECIPE-05\] a recipe must have model; write `static constexpr monomorph::DecoderSpec model\{
// expect-error: \[RECIPE-05\] a recipe must have sharding
// expect-error: \[RECIPE-05\] a recipe must have precision
// expect-error: \[RECIPE-05\] a recipe must have checkpointing
// expect-error: \[RECIPE-05\] a recipe must have optimizer
#include "support/control.hpp"
struct Empty {};
static_assert(monomorph::admit<std::conditional_t<NEGATIVE, Empty, Control>>());
