#pragma once

namespace monomorph {

/// What computes, and in whose memory parameters and gradients lie. Collectives of several ranks compute on CPUs today.
enum class Device { cpu, gpu };

}  // namespace monomorph
