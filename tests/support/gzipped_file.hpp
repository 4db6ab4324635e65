#pragma once
#include "support/catch.hpp"
#include "support/process.hpp"

#include <string>

namespace monomorph::testing {

/// Writes a file's bytes as Python's gzip compresses them.
inline void gzip(const std::string& from, const std::string& to) {
  const ProcessResult result =
      run_process({"python3", "-c",
                   "import gzip, sys; gzip.open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())", from, to});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
}

}  // namespace monomorph::testing
