#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace monomorph::train {

/// Token hash per training file, by path.
using TrainFiles = std::map<std::string, std::int64_t>;

}  // namespace monomorph::train
