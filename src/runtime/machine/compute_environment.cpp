#include <monomorph/runtime/machine/compute_environment.hpp>

#include "runtime/machine/isa.hpp"

#include <monomorph/runtime/machine/parallel.hpp>

#include <ATen/Version.h>

namespace monomorph {

ComputeEnvironment compute_environment() {
  return {.instruction_set = std::string(detail::name_of(detail::active_isa())),
          .libtorch = at::show_config(),
          .threads = compute_threads()};
}

void choose_instruction_set() { (void)detail::active_isa(); }

}  // namespace monomorph
