#include <monomorph/core/writable_folder.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>

using namespace monomorph::testing;
using monomorph::why_not_writable;

TEST_CASE("a folder that is there or can be created is writable, and nothing stays behind") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  for (const std::string name : {"there", "there/", "new", "new/deeper/", "there/new", "new/../there"}) {
    CAPTURE(name);
    CHECK_FALSE(why_not_writable(folder / name));
  }
  CHECK(n_entries(folder.path()) == 1);
  CHECK(n_entries(folder / "there") == 0);
}

TEST_CASE("why a folder is not writable is said") {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "text");
  CHECK(why_not_writable(folder / "file"));
  CHECK(why_not_writable(folder / "file/deeper"));
  CHECK(why_not_writable("/proc/monomorph"));
  CHECK(why_not_writable("/dev/null/monomorph"));
  CHECK(read_bytes(folder / "file") == "text");
}
