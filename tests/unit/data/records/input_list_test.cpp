#include "unit/data/data_test_support.hpp"

#include <monomorph/data/records/input_list.hpp>

#include <fcntl.h>
#include <sys/wait.h>

using monomorph::data::expand_inputs;
using monomorph::data::name_of_inputs;
using monomorph::testing::read_bytes;

namespace {

/// The error of each pattern to somebody whom permissions bind, a line each. Nothing where nobody can be bound, or who
/// can be may not enter the folder.
std::string errors_without_privileges(const std::vector<std::string>& patterns, const TemporaryFolder& folder) {
  const std::string output = folder.file("errors");
  const pid_t child = ::fork();
  if (child == 0) {
    const int written = ::open(output.c_str(), O_WRONLY | O_CREAT, 0600);
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(0);
    if (::access(folder.path().c_str(), R_OK | X_OK) != 0) ::_exit(0);
    for (const std::string& pattern : patterns) {
      const std::string line = error_of([&] { expand_inputs({pattern}); }) + "\n";
      if (::write(written, line.data(), line.size()) < 0) ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return read_bytes(output);
}

}  // namespace

TEST_CASE("Patterns stand for their files in the order of bytes, and each file is read once") {
  const TemporaryFolder folder;
  for (const char* const name : {"b.jsonl", "a.jsonl", "B.jsonl", "a10.jsonl", "a2.jsonl", "other.txt", "odd[1].jsonl"})
    folder.write(name, "");
  std::filesystem::create_directory(folder.file("folder.jsonl"));
  const auto expanded = [&](std::vector<std::string> arguments) {
    for (std::string& argument : arguments) argument = folder.file(argument);
    std::vector<std::string> names = expand_inputs(arguments);
    for (std::string& name : names) name = name.substr(folder.path().size() + 1);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(expanded({"[a-b]*.jsonl"}) == Names{"a.jsonl", "a10.jsonl", "a2.jsonl", "b.jsonl"});
  CHECK(expanded({"*.jsonl"}) == Names{"B.jsonl", "a.jsonl", "a10.jsonl", "a2.jsonl", "b.jsonl", "odd[1].jsonl"});
  CHECK(expanded({"other.txt", "b.jsonl", "?.jsonl"}) == Names{"other.txt", "b.jsonl", "B.jsonl", "a.jsonl"});
  CHECK(expanded({"a.jsonl", "./a.jsonl", "folder.jsonl/../a.jsonl"}) == Names{"a.jsonl"});
  CHECK(expanded({"odd[1].jsonl"}) == Names{"odd[1].jsonl"});    // what exists is no pattern
  CHECK(expanded({"nowhere.jsonl"}) == Names{"nowhere.jsonl"});  // opening it says so
  CHECK(contains(error_of([&] { expanded({"*.none"}); }), "[DATA-74]"));
  CHECK(name_of_inputs({"a"}) == "a");
  CHECK(name_of_inputs({"a", "b", "c"}) == "a and 2 more");
}

TEST_CASE("Each of several pipes without a name is read, and one that has two names once") {
  int one[2], other[2];
  REQUIRE(::pipe(one) == 0);
  REQUIRE(::pipe(other) == 0);
  const auto path_of = [](int descriptor) { return "/dev/fd/" + std::to_string(descriptor); };
  const std::vector<std::string> both{path_of(one[0]), path_of(other[0])};
  CHECK(expand_inputs({both[0], both[1], "/proc/self/fd/" + std::to_string(one[0])}) == both);
  for (const int descriptor : {one[0], one[1], other[0], other[1]}) ::close(descriptor);
}

TEST_CASE("A pattern that cannot be looked for everywhere is refused, and what leads nowhere is no such place") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("open"));
  folder.write("open/a.jsonl", "");
  folder.write("file", "");
  std::filesystem::create_symlink("loop", folder.file("loop"));
  std::filesystem::create_symlink("gone", folder.file("dangling"));
  const std::vector<std::string> only{folder.file("open/a.jsonl")};
  CHECK(expand_inputs({folder.file("*/*.jsonl")}) == only);
  CHECK(expand_inputs({folder.file("*/a.jsonl")}) == only);
  CHECK(contains(error_of([&] { expand_inputs({folder.file("loop/*.jsonl")}); }), "[DATA-74]"));
  const std::string overlong(300, 'x');
  const std::string in_overlong = error_of([&] { expand_inputs({folder.file(overlong + "/*.jsonl")}); });
  CHECK(contains(in_overlong, "[FILE-03] cannot look for files in \""));
  CHECK(contains(error_of([&] { expand_inputs({folder.file("*/" + overlong)}); }), "[FILE-03]"));
  CHECK(expand_inputs({folder.file("*/*.jsonl")}) == only);  // what one search met is not the next one's
}

TEST_CASE("A folder that may not be read is named, whatever else a pattern finds") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  for (const std::string name : {"open", "shut"}) {
    std::filesystem::create_directory(folder.file(name));
    folder.write(name + "/a.jsonl", "");
    std::filesystem::permissions(folder.file(name), std::filesystem::perms(0755));
  }
  std::filesystem::create_directory_symlink("shut/inner", folder.file("linked"));
  std::filesystem::permissions(folder.file("shut"), std::filesystem::perms::none);
  const std::string met = "[FILE-03] cannot look for files in \"" + folder.file("");
  const std::string told =
      errors_without_privileges({folder.file("shut/*.jsonl"), folder.file("*/*.jsonl"), folder.file("s*/a.jsonl"),
                                 folder.file("l*/a.jsonl"), folder.file("o*/a.jsonl")},
                                folder);
  std::filesystem::permissions(folder.file("shut"), std::filesystem::perms::owner_all);
  if (told.empty()) MONOMORPH_SKIP("nobody whom permissions bind can reach the folder for temporary files");
  std::vector<std::string> lines;
  std::istringstream text(told);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == met + "shut\": Permission denied");
  CHECK(contains(lines[1], met));
  CHECK(lines[2] == met + "shut/a.jsonl\": Permission denied");
  CHECK(lines[3] == met + "linked/a.jsonl\": Permission denied");
  CHECK(lines[4].empty());
}
