// Links in folders that come from strangers: what they may lead to is the folder itself, and the blobs of the hub's
// cache.
#include "core/folder_files.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>

#include <sys/stat.h>

#include <filesystem>

using namespace monomorph;
using namespace monomorph::testing;

namespace {

namespace fs = std::filesystem;

/// A folder "model" with a file and a folder with one, and beside it what is none of its business.
struct Folders : TemporaryFolder {
  Folders() {
    fs::create_directories(*this / "model/part");
    fs::create_directories(*this / "home");
    write_bytes(*this / "model/file", "its own");
    write_bytes(*this / "model/part/file", "its own, too");
    write_bytes(*this / "home/key", "a secret");
  }
  /// Makes a link in the model's folder, or in another one.
  void link(const std::string& name, const std::string& target) const { fs::create_symlink(target, *this / name); }
  std::string read(const std::string& name, const std::string& folder = "model") const {
    return read_bytes(path_in(*this / folder, name));
  }
  std::string refusal(const std::string& name, const std::string& folder = "model") const {
    const std::string error = error_of([&] { path_in(*this / folder, name); });
    CAPTURE(error);
    CHECK(error.find('\n') == std::string::npos);
    CHECK_THROWS_AS(path_in(*this / folder, name), UsageError);
    return error;
  }
};

}  // namespace

TEST_CASE("files of a folder are found by their names, and what is not there has a path as well") {
  const Folders folders;
  CHECK(folders.read("file") == "its own");
  CHECK(folders.read("part/file") == "its own, too");
  CHECK(path_in(folders / "model", "nothing") == folders / "model/nothing");
  CHECK(path_in(folders / "nowhere", "file") == folders / "nowhere/file");
  CHECK(path_in("", "nothing that there is") == "./nothing that there is");
}

TEST_CASE("a link is followed to what lies in the folder, by whatever way") {
  const Folders folders;
  folders.link("model/relative", "part/file");
  folders.link("model/absolute", folders / "model/part/file");
  folders.link("model/chain", "relative");
  folders.link("model/round_about", "part/../../model/part/file");
  folders.link("model/other_part", "part");
  for (const std::string name : {"relative", "absolute", "chain", "round_about", "other_part/file"}) {
    CAPTURE(name);
    CHECK(folders.read(name) == "its own, too");
  }
  // A folder may itself be reached by a link: whoever names it knows of it.
  folders.link("model_elsewhere", "model");
  CHECK(folders.read("file", "model_elsewhere") == "its own");
  CHECK(folders.read("chain", "model_elsewhere") == "its own, too");
}

TEST_CASE("a pipe in a folder is refused, and not waited for") {
  const Folders folders;
  REQUIRE(::mkfifo((folders / "model/config.json").c_str(), 0600) == 0);
  folders.link("model/linked", "config.json");
  for (const std::string name : {"config.json", "linked"})
    CHECK(contains(folders.refusal(name), "[FILE-04] \"" + folders / ("model/" + name) + "\" is neither"));
}

TEST_CASE("a link that leads out of the folder, or nowhere, is refused by what it leads to") {
  const Folders folders;
  fs::create_directories(folders / "model_of_another");  // which begins with the same name
  write_bytes(folders / "model_of_another/file", "another's");
  folders.link("model/relative", "../home/key");
  folders.link("model/absolute", folders / "home/key");
  folders.link("model/first", "second");
  folders.link("model/second", "../home/key");
  folders.link("model/beside", "../model_of_another/file");
  for (const std::string name : {"relative", "absolute", "first", "beside"}) {
    CAPTURE(name);
    CHECK(
        contains(folders.refusal(name), "[FILE-07] \"" + folders / ("model/" + name) + "\" leads by a symbolic link"));
  }
  CHECK(contains(folders.refusal("first"), folders / "home/key"));
  folders.link("model/home", "../home");
  CHECK(contains(folders.refusal("home"), "[FILE-07]"));
  CHECK(contains(folders.refusal("home/key"), "[FILE-07]"));
  folders.link("model/broken", "nothing");
  CHECK(contains(folders.refusal("broken"), "can't be followed: No such file"));
  folders.link("model/circle", "circle");
  CHECK(contains(folders.refusal("circle"), "can't be followed: "));
}

TEST_CASE("in a snapshot of the hub's cache links lead to the blobs of the same model, and no further") {
  const Folders folders;
  const std::string snapshot = "hub/models--one--model/snapshots/c0ffee";
  fs::create_directories(folders / (snapshot + "/1_Pooling"));
  fs::create_directories(folders / "hub/models--one--model/blobs/deeper");
  fs::create_directories(folders / "hub/models--one--other/blobs");
  for (const std::string blob : {"one--model/blobs/aa", "one--model/blobs/deeper/bb", "one--other/blobs/cc"})
    write_bytes(folders / ("hub/models--" + blob), blob);
  const auto link = [&](const std::string& name, const std::string& target) {
    folders.link(snapshot + "/" + name, target);
  };
  link("config.json", "../../blobs/aa");
  link("1_Pooling/config.json", "../../../blobs/aa");
  link("absolute", folders / "hub/models--one--model/blobs/aa");
  for (const std::string name : {"config.json", "1_Pooling/config.json", "absolute"})
    CHECK(folders.read(name, snapshot) == "one--model/blobs/aa");
  CHECK(folders.read("config.json", snapshot + "/1_Pooling") == "one--model/blobs/aa");
  link("deeper", "../../blobs/deeper/bb");
  link("other", "../../../models--one--other/blobs/cc");
  link("home", "../../../../home/key");
  for (const std::string name : {"deeper", "other", "home"})
    CHECK(contains(folders.refusal(name, snapshot), "[FILE-07]"));

  // A blob that is a link, and blobs that are one, lead where a cache's never do.
  folders.link("hub/models--one--model/blobs/dd", "../../../home/key");
  link("by_blob", "../../blobs/dd");
  CHECK(contains(folders.refusal("by_blob", snapshot), "[FILE-07]"));
  const std::string forged = "hub/models--a--b/snapshots/c0ffee";
  fs::create_directories(folders / forged);
  folders.link("hub/models--a--b/blobs", "../../home");
  folders.link(forged + "/key", "../../blobs/key");
  CHECK(contains(folders.refusal("key", forged), "[FILE-07]"));

  // Elsewhere two folders of these names mean nothing.
  fs::create_directories(folders / "copies/snapshots/model");
  fs::create_directories(folders / "copies/blobs");
  write_bytes(folders / "copies/blobs/aa", "somebody's");
  folders.link("copies/snapshots/model/file", "../../blobs/aa");
  CHECK(contains(folders.refusal("file", "copies/snapshots/model"), "[FILE-07]"));
}

TEST_CASE("the files of a folder in a folder are listed in order, hidden ones and others left out") {
  const Folders folders;
  CHECK(files_in(folders / "model", "nothing", "").empty());
  CHECK(files_in(folders / "model", "file", "").empty());
  for (const std::string name : {"b.txt", "a.txt", ".c.txt", "d.txt~"})
    write_bytes(folders / ("model/part/" + name), "");
  fs::create_directories(folders / "model/part/e.txt");
  folders.link("model/part/f.txt", "../file");
  CHECK(files_in(folders / "model", "part", ".txt") ==
        std::vector<std::string>{"part/a.txt", "part/b.txt", "part/f.txt"});
  folders.link("model/part/g.txt", "../../home/key");
  CHECK(contains(error_of([&] { files_in(folders / "model", "part", ".txt"); }), "[FILE-07]"));
  folders.link("model/home", "../home");
  CHECK(contains(error_of([&] { files_in(folders / "model", "home", ".txt"); }), "[FILE-07]"));
}
