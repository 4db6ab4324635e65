#include "runtime/distributed/free_descriptors.hpp"

#include <monomorph/core/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

namespace monomorph::distributed {
namespace {

/// Of the descriptors below the limit, those that are free; `most` if there are more.
rlim_t free_descriptors(rlim_t limit, rlim_t most) {
  rlim_t n_free = 0;
  for (rlim_t descriptor = 0; descriptor < limit && n_free < most; ++descriptor)
    if (::fcntl(static_cast<int>(descriptor), F_GETFD) == -1) ++n_free;
  return n_free;
}

}  // namespace

void check_free_descriptors(int needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(needed);
  const rlim_t n_free = free_descriptors(limit.rlim_cur, wanted);
  if (n_free >= wanted) return;
  throw UsageError(
      "RANK-23",
      fmt::format("this process must be able to open {} more files and connections, and its limit of {} leaves "
                  "{}; raise the limit (ulimit -n {})",
                  needed, limit.rlim_cur, n_free, limit.rlim_cur + wanted - n_free));
}

}  // namespace monomorph::distributed
