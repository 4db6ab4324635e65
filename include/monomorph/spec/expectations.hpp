#pragma once
#include <cstdint>
#include <monomorph/core/required.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

constexpr std::int64_t gib(std::int64_t n) { return n << 30; }
constexpr std::int64_t mib(std::int64_t n) { return n << 20; }

/// What the author worked out by hand or took from a published checkpoint: a rule (PLAN-01), not a static_assert in the
/// recipe, which would be a broken recipe's first error.
struct Expect {
  Required<std::int64_t> params{};
};

/// What the plan must fit into, or there is no binary: PLAN-02 to PLAN-06.
struct Budget {
  Required<int> ranks{};
  Required<std::int64_t> bytes_per_rank{};
  Required<std::int64_t> micro_batch{};  ///< sequences per rank and forward pass
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::Expect, params);
MONOMORPH_SPEC(monomorph::Budget, ranks, bytes_per_rank, micro_batch);
