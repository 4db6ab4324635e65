#pragma once
#include "strange.hpp"
#include "watch.hpp"

namespace recipes {

/// strange, with an observer from outside of Monomorph.
struct watched : strange {
  using observer = stranger::Watch;
};

}  // namespace recipes
