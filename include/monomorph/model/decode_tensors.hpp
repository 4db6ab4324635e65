#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph {

/// What a block may touch to extend B sequences by one token.
struct DecodeTensors {
  View params;            ///< flat buffer of the unit
  View x_BD;              ///< residual stream, updated in place
  View k_cache, v_cache;  ///< (B · capacity, KV·H)
  View scratch;           ///< flat, compute dtype
  View statistics;        ///< flat, fp32 at least
  View rotary_cos_TH, rotary_sin_TH;
  std::int64_t batch, capacity;
  std::int64_t position;  ///< of the new token; as many are in the cache
};

}  // namespace monomorph
