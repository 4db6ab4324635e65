#include "runtime/libtorch/quiet_c10d.hpp"

#include <c10/util/Logging.h>
#include <cstdlib>

namespace monomorph::libtorch {

void quiet_c10d() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = 3;  // fatal errors alone
}

}  // namespace monomorph::libtorch
