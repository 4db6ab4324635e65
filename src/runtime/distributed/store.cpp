#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/quiet_c10d.hpp"
#include "runtime/distributed/store_handle.hpp"
#include "runtime/distributed/with_timeout.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace monomorph::distributed {
namespace {

Error gone(const std::exception& failure) {
  return Error("RANK-14", fmt::format("the ranks' rendezvous has gone ({}); see what became of rank 0 or the launcher",
                                      first_line(failure)));
}

}  // namespace

Store Store::in_process() {
  return Store(std::make_shared<const Handle>(Handle{c10::make_intrusive<c10d::HashStore>()}));
}

Store Store::tcp(const std::string& host, int port, bool serves, std::chrono::milliseconds time_limit) {
  quiet_c10d();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = time_limit;
  try {
    const auto open = [=] { return c10::make_intrusive<c10d::TCPStore>(host, options); };
    return Store(std::make_shared<const Handle>(Handle{with_timeout(time_limit + grace, open)}));
  } catch (const std::exception& failure) {
    throw Error("RANK-04",
                fmt::format("the ranks' rendezvous {}:{} can't be {} ({}); see that MASTER_ADDR and "
                            "MASTER_PORT name a host and a free port that every rank reaches, and that rank 0 runs",
                            host, port, serves ? "opened" : "reached", first_line(failure)));
  }
}

void Store::set(const std::string& key, const std::string& value) {
  try {
    handle_->store->set(key, value);
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

std::string Store::get(const std::string& key, int from, std::chrono::milliseconds time_limit) {
  try {
    return with_timeout(time_limit + grace, [handle = handle_, key, time_limit] {
      handle->store->wait({key}, time_limit);
      return handle->store->get_to_str(key);
    });
  } catch (const std::exception& failure) {
    if (!is_time_limit(first_line(failure))) throw gone(failure);
    throw absent_ranks({from}, time_limit);
  }
}

void Store::remove(const std::string& key) {
  try {
    handle_->store->deleteKey(key);
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

bool Store::has(const std::string& key) {
  try {
    return with_timeout(grace, [handle = handle_, key] { return handle->store->check({key}); });
  } catch (const std::exception& failure) {
    throw gone(failure);
  }
}

Store Store::under(const std::string& name) const {
  return Store(std::make_shared<const Handle>(Handle{c10::make_intrusive<c10d::PrefixStore>(name, handle_->store)}));
}

}  // namespace monomorph::distributed
