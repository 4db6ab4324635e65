// The main of Catch2 v2, compiled once for all test programs; v3 brings its own as a library. A test that compares
// nothing has not passed, and neither has a name that no test has, as ctest may garble one. v3 is told the first by its
// command line and sees to the second itself; that of v2 takes only one of the two.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int mistake = session.applyCommandLine(argc, argv); mistake != 0) return mistake;
  using Catch::WarnAbout;
  session.configData().warnings = static_cast<WarnAbout::What>(WarnAbout::NoAssertions | WarnAbout::NoTests);
  return session.run();
}
