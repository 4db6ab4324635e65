#pragma once
#include <monomorph/spec/low_rank_spec.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// The names of the two matrices beside a weight.
struct AdapterNames {
  std::string a, b;
};

/// "layers.3.mlp.up.lora_A" and "….lora_B" of "layers.3.mlp.up.weight"; none if nothing of that name can be adapted.
inline std::optional<AdapterNames> adapter_names(const std::string& weight) {
  for (const LowRankNames& names : low_rank_names)
    if (weight.ends_with(names.weight)) {
      const std::string prefix = weight.substr(0, weight.size() - names.weight.size());
      return AdapterNames{prefix + std::string(names.a), prefix + std::string(names.b)};
    }
  return std::nullopt;
}

}  // namespace monomorph::train
