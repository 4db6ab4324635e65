#pragma once

namespace monomorph::distributed {

/// What c10d would log of a failure, stack and all, is said in one line where it is thrown. TORCH_CPP_LOG_LEVEL, whose
/// value is taken before, asks for it all the same.
void quiet_c10d();

}  // namespace monomorph::distributed
