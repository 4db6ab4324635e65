#include "behind.hpp"

#include <sys/resource.h>
#include <unistd.h>

namespace monomorph::runtime {

/// Linux has priorities of single threads.
void yield_to_compute() { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 15); }

}  // namespace monomorph::runtime
