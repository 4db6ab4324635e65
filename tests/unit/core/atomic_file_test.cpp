#include "support/bytes_of.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/core/text_file.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

using namespace monomorph;
using namespace monomorph::testing;

TEST_CASE("an atomic file appears at commit and not before") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.txt";
  {
    AtomicFile file(path);
    file.write("half");
    CHECK_FALSE(std::filesystem::exists(path));
    file.write(" whole");
    file.commit();
  }
  CHECK(read_bytes(path) == "half whole");
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("an atomic file that is not committed leaves the old content and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.txt";
  write_text_file(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
  }
  CHECK(read_bytes(path) == "old");
  CHECK(n_entries(folder.path()) == 1);
  write_text_file(path, "new");
  CHECK(read_bytes(path) == "new");
}

TEST_CASE("more than the buffer, in small and large pieces, and a header written last") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  std::string expected;
  {
    AtomicFile file(path);
    for (int i = 0; i < 2000; ++i) {
      const std::string piece(static_cast<std::size_t>(i % 700), static_cast<char>('a' + i % 26));
      file.write(piece);
      expected += piece;
    }
    const std::string large(1'000'003, 'L');
    file.write(large);
    file.write("tail");
    expected += large + "tail";
    file.write_at(3, bytes_of("HEADER"));
    file.write("!");
    expected.replace(3, 6, "HEADER");
    expected += "!";
    file.commit();
  }
  CHECK((read_bytes(path) == expected));
}

TEST_CASE("two writers of one path do not meet: the last commit stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.txt";
  AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  CHECK(read_bytes(path) == "second");
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("a symbolic link stays a link: its target is replaced") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  write_text_file(folder / "elsewhere/target", "old");
  std::filesystem::create_symlink(folder / "elsewhere/target", folder / "link");
  write_text_file(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_bytes(folder / "elsewhere/target") == "new");
}

TEST_CASE("a full disk is called that and the path is named") {
  const std::string message = error_of([] {
    AtomicFile file("/dev/full");
    file.write("some text");
    file.commit();
  });
  CHECK(contains(message, "[FILE-02]"));
  CHECK(contains(message, "\"/dev/full\""));
  CHECK(contains(message, "the disk is full (No space left on device)"));
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("what cannot be written or read is refused in one line") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { AtomicFile file(folder / "missing/out.txt"); }), "[FILE-01]"));
  CHECK(contains(error_of([&] { AtomicFile file(folder.path()); }), "[FILE-04]"));
  CHECK(contains(error_of([&] { AtomicFile file(folder / std::string(300, 'x')); }), "[FILE-03]"));
  CHECK(contains(error_of([&] { read_text_file(folder / "missing"); }), "[FILE-01]"));
  CHECK(contains(error_of([&] { read_text_file(folder.path()); }), "[FILE-04]"));
  CHECK(contains(error_of([&] { MappedFile file(folder / "missing"); }), "[FILE-01]"));
  CHECK(contains(error_of([&] { MappedFile file(folder.path()); }), "[FILE-04]"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { MappedFile file(folder / "pipe"); }), "[FILE-04]"));
  CHECK(contains(error_of([&] { sync_folder(folder / "missing"); }), "[FILE-01]"));
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("text files are read whole, up to the limit") {
  const TemporaryFolder folder;
  const std::string path = folder / "text";
  const std::string text = std::string(200'000, 'a') + '\0' + "\nend";
  write_bytes(path, text);
  CHECK((read_text_file(path) == text));
  CHECK((read_text_file(path, text.size()) == text));
  CHECK(contains(error_of([&] { read_text_file(path, text.size() - 1); }), "[FILE-05]"));
  write_bytes(path, "");
  CHECK(read_text_file(path).empty());
}

TEST_CASE("files are mapped, empty ones too, and a mapping survives being moved") {
  const TemporaryFolder folder;
  write_bytes(folder / "empty", "");
  CHECK(MappedFile(folder / "empty").bytes().empty());
  write_bytes(folder / "full", "content");
  MappedFile file(folder / "full");
  MappedFile moved(std::move(file));
  MappedFile assigned(folder / "empty");
  assigned = std::move(moved);
  REQUIRE(assigned.bytes().size() == 7);
  CHECK(static_cast<char>(assigned.bytes()[6]) == 't');
  CHECK(assigned.path() == (folder / "full"));
}

TEST_CASE("names from hostile files stay on one line and short") {
  CHECK(in_quotes("plain") == "\"plain\"");
  CHECK(in_quotes("a\nb\x1b[31m\"\\") == "\"a\\x0ab\\x1b[31m\\\"\\\\\"");
  CHECK(in_quotes(std::string(100'000, 'x')).size() < 220);
}
