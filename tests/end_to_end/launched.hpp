#pragma once
#include "support/process.hpp"

#include <optional>

namespace monomorph::testing {

/// Marks what a launcher starts by a variable of its environment, whoever its parent becomes. All that carries the mark
/// is killed with the object.
class Launched {
 public:
  Launched() = default;
  Launched(const Launched&) = delete;
  ~Launched();

  /// For the launcher: the mark, and one thread for each rank.
  Process::Environment environment() const;
  /// The processes whose environment has all of these lines, as "RANK=1", beside the mark.
  std::vector<pid_t> with(const std::vector<std::string>& lines) const;
  /// Waits for as many of them; fewer when a minute is over.
  std::vector<pid_t> wait_for(std::size_t n, const std::vector<std::string>& lines) const;

 private:
  TemporaryFolder folder_;  ///< its name is the mark
};

/// The path of a program; absent if it is not installed.
std::optional<std::string> find_program(const std::string& name);

}  // namespace monomorph::testing
