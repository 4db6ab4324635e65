#pragma once

namespace monomorph::libtorch {

/// Silences the log of c10d, which would print a stack trace for each failure; we report it in one line where it is
/// thrown. If TORCH_CPP_LOG_LEVEL is set, it is obeyed.
void quiet_c10d();

}  // namespace monomorph::libtorch
