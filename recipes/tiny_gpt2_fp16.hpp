#pragma once
#include "tiny_gpt2_fsdp.hpp"

namespace recipes {

/// tiny_gpt2_fsdp in fp16, for tests: a dynamic loss scale.
struct tiny_gpt2_fp16 : tiny_gpt2_fsdp {
  using precision = monomorph::precision::Fp16Mixed;
};

}  // namespace recipes
