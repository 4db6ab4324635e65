#pragma once

namespace monomorph::runtime {

/// What the steps are computed by, beside which a thread of the host does something: cores that it would take from
/// them, or a device that leaves the cores to it.
enum class ComputedBy { cores, device };

}  // namespace monomorph::runtime
