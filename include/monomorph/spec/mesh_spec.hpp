#pragma once
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

/// Axes whose degree shapes the program. The data-parallel degree does not: it is world size / model_parallel().
struct MeshSpec {
  Defaulted<int> tp = 1;  ///< tensor parallel
  Defaulted<int> pp = 1;  ///< pipeline parallel
  Defaulted<int> cp = 1;  ///< context parallel
  constexpr int model_parallel() const { return tp * pp * cp; }
  friend constexpr bool operator==(const MeshSpec&, const MeshSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::MeshSpec, tp, pp, cp);
