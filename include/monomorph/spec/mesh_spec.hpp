#pragma once

namespace monomorph {

/// Axes whose degree shapes the program. The data-parallel degree does not: it is world size / model_parallel().
struct MeshSpec {
  int tp = 1;  ///< tensor parallel
  int pp = 1;  ///< pipeline parallel
  int cp = 1;  ///< context parallel
  constexpr int model_parallel() const { return tp * pp * cp; }
  friend constexpr bool operator==(const MeshSpec&, const MeshSpec&) = default;
};

}  // namespace monomorph
