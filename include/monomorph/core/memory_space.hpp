#pragma once

namespace monomorph {

/// Where memory lies: where the kernels run, or in the host's main memory. On a CPU both are main memory.
enum class MemorySpace { device, host };

}  // namespace monomorph
