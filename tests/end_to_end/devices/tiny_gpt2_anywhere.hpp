#pragma once
#include "../../../recipes/tiny_gpt2.hpp"

namespace recipes {

/// A recipe that names no device, and is built for several.
struct tiny_gpt2_anywhere : tiny_gpt2 {};

}  // namespace recipes
