#pragma once
#include <monomorph/policy/optimizer_policy.hpp>

#include <string>

namespace monomorph::train {

/// How a parameter's moving average is named, where the optimiser keeps one (optim::Averaged).
inline std::string averaged_name(const std::string& parameter) { return std::string(average_buffer) + "." + parameter; }

/// The tensor of a checkpoint with which a model is used: the average of a parameter, if the checkpoint has one.
template <class Reader> std::string name_for_use(const Reader& checkpoint, const std::string& parameter) {
  std::string averaged = averaged_name(parameter);
  return checkpoint.find(averaged) != nullptr ? averaged : parameter;
}

}  // namespace monomorph::train
