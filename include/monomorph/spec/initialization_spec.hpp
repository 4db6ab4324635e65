#pragma once
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/derived.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

/// How parameters start. Norm weights are 1, biases 0 in all of them.
enum class InitializationScheme {
  plain,             ///< all matrices normal(0, std)
  depth_scaled,      ///< as plain; projections into the residual stream std / sqrt(2 L) (GPT-2, Radford et al. 2019,
                     ///< section 2.3)
  scaled_embedding,  ///< as depth_scaled; embeddings normal(0, sqrt(0.4)) (Takase et al. 2023, arXiv:2312.16903)
  llama3,  ///< embeddings normal(0, 1); head (and a tied table) std 1/sqrt(D) truncated at 3 std; matrices truncated
           ///< normal(0, std), those into the residual stream std / sqrt(2 (i + 1)) in layer i (as torchtitan trains
           ///< Llama 3)
};

struct InitializationSpec {
  Defaulted<InitializationScheme> scheme = InitializationScheme::depth_scaled;
  Derived<double> std =
      0.02;  ///< `automatic`: sqrt(2 / (5 D)) (Nguyen and Salazar 2019, section 2.2, arXiv:1910.05895)
  friend constexpr bool operator==(const InitializationSpec&, const InitializationSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::InitializationSpec, scheme, std);
