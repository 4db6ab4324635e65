#include "runtime/distributed/store.hpp"

#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/with_timeout.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::distributed {
namespace {

Error gone(const std::exception& failure) {
  return Error("RANK-14", fmt::format("the ranks' rendezvous has gone ({}); see what became of rank 0 or the launcher",
                                      first_line(failure)));
}

}  // namespace

Store Store::in_process() { return Store(libtorch::library().store_in_process()); }

Store Store::tcp(const std::string& host, int port, bool serves, std::chrono::milliseconds time_limit) {
  const libtorch::Library& library = libtorch::library();
  try {
    return Store(
        with_timeout(time_limit + grace, [=, &library] { return library.store(host, port, serves, time_limit); }));
  } catch (const std::exception& failure) {
    throw Error("RANK-04",
                fmt::format("the ranks' rendezvous {}:{} can't be {} ({}); see that MASTER_ADDR and "
                            "MASTER_PORT name a host and a free port that every rank reaches, and that rank 0 runs",
                            host, port, serves ? "opened" : "reached", first_line(failure)));
  }
}

void Store::set(const std::string& key, const std::string& value) {
  try {
    table_->set(key, value);
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

std::string Store::get(const std::string& key, int from, std::chrono::milliseconds time_limit) {
  try {
    return with_timeout(time_limit + grace, [table = table_, key, time_limit] { return table->get(key, time_limit); });
  } catch (const std::exception& failure) {
    if (!is_time_limit(first_line(failure))) throw gone(failure);
    throw absent_ranks({from}, time_limit);
  }
}

void Store::remove(const std::string& key) {
  try {
    table_->remove(key);
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

bool Store::has(const std::string& key) {
  try {
    return with_timeout(grace, [table = table_, key] { return table->has(key); });
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

Store Store::under(const std::string& name) const { return Store(libtorch::library().store_under(name, table_)); }

}  // namespace monomorph::distributed
