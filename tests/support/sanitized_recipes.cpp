// Read by the compiler with the sanitizers of the preset `dev`, under which g++ takes less for a constant, such as no
// comparison of two addresses: recipes with parts of every kind, and the plan of each.
#include "recipes/sentence_encoder.hpp"
#include "recipes/tiny_distillation.hpp"
#include "recipes/tiny_llama_hybrid.hpp"
#include "recipes/tiny_llama_qlora.hpp"
#include "recipes/tiny_masked.hpp"
#include "recipes/tiny_mixture.hpp"
#include "recipes/tiny_preferences.hpp"

#include <monomorph/plan/memory.hpp>

namespace monomorph {

template <class R> consteval bool is_planned() { return Recipe<R> && plan::memory<R>(4, 1).total() > 0; }

static_assert(is_planned<OnDefault<recipes::sentence_encoder, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_distillation, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_llama_hybrid, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_llama_qlora, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_masked, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_mixture, device::Cpu>>());
static_assert(is_planned<OnDefault<recipes::tiny_preferences, device::Cpu>>());

}  // namespace monomorph
