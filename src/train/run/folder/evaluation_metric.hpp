#pragma once
#include <monomorph/runtime/files/counter_names.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace monomorph::train {

/// What metrics.jsonl and checkpoints call a metric of an evaluation: "evaluation_loss", and of a held-out set with a
/// name "evaluation_loss.wiki".
inline std::string evaluation_metric(std::string_view metric, std::string_view set) {
  return fmt::format("{}{}{}{}", runtime::evaluation_prefix, metric, set.empty() ? "" : ".", set);
}

}  // namespace monomorph::train
