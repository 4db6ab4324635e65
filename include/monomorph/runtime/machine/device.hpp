#pragma once

namespace monomorph {

/// What computes, and in whose memory parameters and gradients lie. Models compute on CPUs today.
enum class Device { cpu, gpu };

}  // namespace monomorph
