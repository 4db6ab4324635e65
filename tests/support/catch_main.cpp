// The main of Catch2 v2, compiled once for all test programs; v3 brings its own as a library. As with v3, a name that
// no test has is a failure: ctest may garble one.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int mistake = session.applyCommandLine(argc, argv); mistake != 0) return mistake;
  using Catch::WarnAbout;
  Catch::ConfigData& config = session.configData();
  config.warnings = static_cast<WarnAbout::What>(config.warnings | WarnAbout::NoTests);
  return session.run();
}
