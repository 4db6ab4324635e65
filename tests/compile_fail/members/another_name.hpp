#pragma once
#include <monomorph/run.hpp>

namespace recipes {

// said: 1: error: .RECIPE-09. another_name.hpp must define the struct recipes::another_name
struct anothername {};

}  // namespace recipes
