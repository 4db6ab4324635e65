#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace monomorph;
using namespace monomorph::testing;

namespace {

constexpr std::size_t file_bytes = 100'000;

int sum(const MappedFile& file) {
  int sum = 0;
  for (const std::byte byte : file.bytes()) sum += std::to_integer<int>(byte);
  return sum;
}

}  // namespace

TEST_CASE("what a mapped file loses reads as zeros, and nothing is committed any more") {
  const TemporaryFolder folder;
  const TruncationGuard guard;
  write_bytes(folder / "a", std::string(file_bytes, '\1'));
  const MappedFile file(folder / "a");
  const MappedFile moved_on(folder / "a");
  CHECK(sum(file) == file_bytes);
  CHECK(error_of([] { throw_if_truncated(); }) == "(no error)");
  AtomicFile output(folder / "b");
  output.write("made of the file");
  std::filesystem::resize_file(folder / "a", 5000);
  CHECK(sum(file) == 5000);
  CHECK(sum(moved_on) == 5000);
  const std::string message = error_of([] { throw_if_truncated(); });
  CHECK(contains(message, "[DATA-09]"));
  CHECK(contains(message, folder / "a"));
  CHECK(contains(error_of([&] { output.commit(); }), "[DATA-09]"));
  CHECK(!std::filesystem::exists(folder / "b"));
}

TEST_CASE("a file whose loss does no harm is forgotten by the folder that it lies in") {
  const TemporaryFolder folder;
  const TruncationGuard guard;
  std::filesystem::create_directory(folder / "given_up");
  write_bytes(folder / "given_up/a", std::string(file_bytes, '\1'));
  const MappedFile file(folder / "given_up/a");
  std::filesystem::resize_file(folder / "given_up/a", 5000);
  CHECK(sum(file) == 5000);
  for (const char* const other : {"given", "given_up/a/b", "another"}) {
    forget_truncated(folder / other);
    CHECK(contains(error_of([] { throw_if_truncated(); }), "[DATA-09]"));
  }
  forget_truncated(folder / "given_up");
  CHECK(error_of([] { throw_if_truncated(); }) == "(no error)");
}

TEST_CASE("a new guard knows nothing of what an earlier one met") {
  const TemporaryFolder folder;
  const auto read_truncated = [&](const std::string& name) {
    write_bytes(folder / name, std::string(file_bytes, '\1'));
    const MappedFile file(folder / name);
    std::filesystem::resize_file(folder / name, 0);
    CHECK(sum(file) == 0);
    return error_of([] { throw_if_truncated(); });
  };
  for (const std::string name : {"first", "second"}) {
    const TruncationGuard guard;
    CHECK(error_of([] { throw_if_truncated(); }) == "(no error)");
    CHECK(contains(read_truncated(name), name));
  }
}

TEST_CASE("a bus error that no mapped file has caused ends the program") {
  const pid_t child = ::fork();
  if (child == 0) {
    const TruncationGuard guard;
    std::raise(SIGBUS);
    std::raise(SIGBUS);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}
