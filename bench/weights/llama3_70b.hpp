#pragma once
#include <monomorph/run.hpp>

namespace bench {

/// Llama 3 70B as it is trained on many GPUs. What a rank loads of it is measured without the others.
struct llama3_70b {
  static constexpr monomorph::DecoderSpec model = monomorph::models::llama3_70b;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 70'553'706'496};
};

}  // namespace bench
