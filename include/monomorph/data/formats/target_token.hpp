#pragma once

namespace monomorph::data {

/// Which token is the target of an input: the one behind it, or itself, for an objective that hides it in the inputs.
enum class TargetToken { next, itself };

}  // namespace monomorph::data
