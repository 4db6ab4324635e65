#pragma once
#include "lean_bf16.hpp"
#include "strange.hpp"

namespace recipes {

/// The strange decoder, in a precision from outside of Monomorph.
struct lean : strange {
  using precision = stranger::LeanBf16;
};

}  // namespace recipes
