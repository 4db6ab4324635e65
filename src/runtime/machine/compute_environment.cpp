#include <monomorph/runtime/machine/compute_environment.hpp>

#include "runtime/machine/isa.hpp"
#include "runtime/machine/libtorch.hpp"

#include <monomorph/runtime/machine/parallel.hpp>

namespace monomorph {

ComputeEnvironment compute_environment() {
  return {.instruction_set = std::string(detail::name_of(detail::active_isa())),
          .libtorch = libtorch::library().description(),
          .threads = compute_threads()};
}

void choose_instruction_set() { (void)detail::active_isa(); }

}  // namespace monomorph
