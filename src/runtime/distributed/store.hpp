#pragma once
#include "runtime/machine/libtorch.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace monomorph::distributed {

/// c10d's store: a small table of texts that all ranks see, in which they exchange addresses and leave notes.
class Store {
 public:
  /// For ranks that are threads of one process.
  static Store in_process();
  /// Connects to the server of the table, which is in the process that calls this with `serves`.
  /// @throws Error [RANK-04] if host:port can't be reached, or served, within the time limit
  static Store tcp(const std::string& host, int port, bool serves, std::chrono::milliseconds time_limit);

  /// @throws Error [RANK-14] if the table has gone with the rank that served it
  void set(const std::string& key, const std::string& value);
  /// Waits until a rank has set it.
  /// @throws Error [RANK-05] if that takes longer than the time limit   @throws Error [RANK-14] as above
  std::string get(const std::string& key, int from, std::chrono::milliseconds time_limit);
  /// Forgets it.   @throws Error [RANK-14] as above
  void remove(const std::string& key);
  /// @throws Error [RANK-14] if nobody answers
  bool has(const std::string& key);
  /// The same table, with `name` in front of each key.
  Store under(const std::string& name) const;

  /// c10d's own, with which ranks are connected.
  const std::shared_ptr<libtorch::Store>& table() const { return table_; }

 private:
  explicit Store(std::shared_ptr<libtorch::Store> table) : table_(std::move(table)) {}
  std::shared_ptr<libtorch::Store> table_;
};

}  // namespace monomorph::distributed
