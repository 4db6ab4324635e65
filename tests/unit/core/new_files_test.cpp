// Exports: what they write comes as a whole, and what others write meanwhile is left alone.
#include "core/new_files.hpp"

#include "core/new_run_folder.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

using namespace monomorph;
using namespace monomorph::testing;

namespace {

namespace fs = std::filesystem;

std::set<std::string> files_below(const std::string& folder) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    files.insert(entry.path().lexically_relative(folder).string());
  return files;
}

void write_model(const std::string& folder) {
  fs::create_directory(folder + "/part");
  write_bytes(folder + "/config.json", "whole");
  write_bytes(folder + "/part/weights", "numbers");
}

}  // namespace

TEST_CASE("files come into a folder when they are kept, beside what is there, into folders that are there, too") {
  const TemporaryFolder place;
  fs::create_directories(place / "model/part");
  write_bytes(place / "model/part/mine", "mine");
  NewFiles made(place / "model");
  write_model(made.place());
  CHECK_FALSE(fs::exists(place / "model/config.json"));
  made.keep("config.json");
  CHECK(read_bytes(place / "model/part/weights") == "numbers");
  CHECK(read_bytes(place / "model/part/mine") == "mine");
  CHECK(read_bytes(place / "model/config.json") == "whole");
}

TEST_CASE("files that are not kept go again, and what others have put there meanwhile stays") {
  const TemporaryFolder place;
  {
    const NewFiles made(place / "new");
    write_model(made.place());
  }
  CHECK_FALSE(fs::exists(place / "new"));
  {
    const NewFiles made(place / "new");
    write_model(made.place());
    fs::create_directory(place / "new/runs");
    write_bytes(place / "new/runs/checkpoint", "another's");
  }
  CHECK(files_below(place / "new") == std::set<std::string>{"runs", "runs/checkpoint"});
}

TEST_CASE("where one file can't be moved, none comes that was not there") {
  const TemporaryFolder place;
  for (const std::string in_the_way : {"part/weights", "a", "z"}) {
    CAPTURE(in_the_way);
    const std::string model = place / ("beside " + fs::path(in_the_way).filename().string());
    fs::create_directories(model + "/" + in_the_way + "/of another kind");
    write_bytes(model + "/other", "mine");
    const std::set<std::string> before = files_below(model);
    {
      NewFiles made(model);
      write_model(made.place());
      for (const std::string name : {"a", "other", "z"}) write_bytes(made.place() + "/" + name, "numbers");
      CHECK(error_of([&] { made.keep("config.json"); }).find("cannot write ") != std::string::npos);
    }
    CHECK(files_below(model) == before);
  }
}

TEST_CASE("what a killed process has left is removed by the next one, and not what a living one writes") {
  const TemporaryFolder place;
  const NewFiles living(place / "model");
  write_model(living.place());
  fs::create_directories(place / "model/.new-files-abcdef/part");
  write_bytes(place / "model/.new-files-abcdef/part/weights", "left");
  NewFiles made(place / "model");
  CHECK_FALSE(fs::exists(place / "model/.new-files-abcdef"));
  CHECK(read_bytes(living.place() + "/config.json") == "whole");
  write_bytes(made.place() + "/config.json", "second");
  made.keep("config.json");
  CHECK(read_bytes(place / "model/config.json") == "second");
}

TEST_CASE("files come into a folder that somebody else has locked, and leftovers stay there for the time being") {
  const TemporaryFolder place;
  fs::create_directories(place / "model/.new-files-abcdef");
  const int locked = ::open((place / "model").c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(locked, LOCK_EX) == 0);
  NewFiles made(place / "model");
  write_model(made.place());
  made.keep("config.json");
  CHECK(fs::exists(place / "model/config.json"));
  CHECK(fs::exists(place / "model/.new-files-abcdef"));
  ::close(locked);
}

TEST_CASE("a run folder that goes while it is made is no failure of its own") {
  const TemporaryFolder place;
  CHECK(error_of([&] {
          const NewRunFolder made(place / "run", "CHECKPOINT-30");
          fs::remove_all(place / "run");
          throw Error("FILE-02", "the disk is full");
        }).find("[FILE-02]") != std::string::npos);
}

TEST_CASE("a run folder is made where there are hidden files alone, as network file systems have them") {
  const TemporaryFolder place;
  fs::create_directories(place / "run");
  write_bytes(place / "run/.nfs000000000001", "open elsewhere");
  CHECK(error_of([&] { NewRunFolder(place / "run", "CHECKPOINT-30").keep(); }) == "(no error)");
  CHECK(files_below(place / "run") == std::set<std::string>{".nfs000000000001"});
}

TEST_CASE("a run folder that another has filled is not made, and stays as it is") {
  const TemporaryFolder place;
  fs::create_directories(place / "run/checkpoints");
  CHECK(error_of([&] {
          const NewRunFolder made(place / "run", "CHECKPOINT-30");
        }).find("[CHECKPOINT-30] there is something in ") != std::string::npos);
  CHECK(files_below(place / "run") == std::set<std::string>{"checkpoints"});
}
