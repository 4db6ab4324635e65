#pragma once
#include "tiny_llama_lora.hpp"

namespace recipes {

/// The adapters of tiny_llama_lora beside matrices in NF4, for tests.
struct tiny_llama_qlora : tiny_llama_lora {
  using finetuning = monomorph::finetuning::Nf4Base<tiny_llama_lora::finetuning>;
};

}  // namespace recipes
