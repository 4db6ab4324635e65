#pragma once
#include <monomorph/data/bpe/pair_table.hpp>

#include <cstdint>

namespace monomorph::data {

/// A pair of tokens and what byte-pair encoding makes of it.
struct MergeRule {
  TokenPair pair;
  std::int32_t token;
};

}  // namespace monomorph::data
