#include <monomorph/core/report_failure.hpp>

#include <monomorph/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace monomorph;
using namespace monomorph::testing;

namespace {

/// What is written to standard error meanwhile, and the exit code.
std::pair<std::string, int> reported(const std::exception& failure) {
  const TemporaryFolder folder;
  const int before = ::dup(STDERR_FILENO), file = ::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  const int code = report_failure(failure);
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(file);
  return {read_bytes(folder / "err"), code};
}

}  // namespace

TEST_CASE("each line of an error is one of standard error, and of what nobody foresaw the first") {
  using Report = std::pair<std::string, int>;
  CHECK(reported(Error("A-01", "one")) == Report("error: [A-01] one\n", 1));
  CHECK(reported(UsageError("A-01", "one\n[A-02] two")) == Report("error: [A-01] one\nerror: [A-02] two\n", 2));
  CHECK(reported(std::runtime_error("no memory\nframe #0: at::empty\nframe #1: main")) ==
        Report("error: [RUN-00] an unexpected failure: no memory\n", 1));
}
