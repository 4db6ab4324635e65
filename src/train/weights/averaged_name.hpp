#pragma once
#include <monomorph/policy/optimizer_policy.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <string>
#include <variant>

namespace monomorph::train {

/// How a parameter's moving average is named, where the optimiser keeps one (optim::Averaged).
inline std::string averaged_name(const std::string& parameter) { return std::string(average_buffer) + "." + parameter; }

/// The tensor of a checkpoint with which a model is used: the average of a parameter, if the checkpoint has one. Before
/// the first update there is nothing that it would be of, and it is zeros.
template <class Reader> std::string name_for_use(const Reader& checkpoint, const std::string& parameter) {
  const runtime::CheckpointMetadata& metadata = checkpoint.metadata();
  const auto updates = metadata.counters.find("updates");
  const bool has_begun = updates == metadata.counters.end()
                             ? metadata.step > 0
                             : updates->second != std::variant<std::int64_t, double>(std::int64_t{0});
  std::string averaged = averaged_name(parameter);
  return has_begun && checkpoint.find(averaged) != nullptr ? averaged : parameter;
}

}  // namespace monomorph::train
