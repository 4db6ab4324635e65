#include "data/records/text_input.hpp"
#include "data/records/text_lines.hpp"
#include "support/process.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/core/error.hpp>

#include <algorithm>
#include <random>
#include <utility>

#ifdef MONOMORPH_HAS_ZSTD
#include <zstd.h>
#endif

using namespace monomorph::data;
using monomorph::testing::contains;
using monomorph::testing::ProcessResult;
using monomorph::testing::read_bytes;
using monomorph::testing::run_process;
using monomorph::testing::write_bytes;

namespace {

std::string text_of(const std::string& path, std::size_t piece_bytes = 70'000, std::uint64_t offset = 0) {
  TextInput input(path);
  if (offset > 0) input.skip_to(offset);
  std::string text;
  while (input.read_more(text, piece_bytes)) {
  }
  return text;
}

/// Some that shrink and some that do not, longer than the buffers between file and text.
std::string sample_text(std::size_t n_bytes) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < n_bytes) {
    if (random() % 3 == 0) text += std::string(random() % 5000, 'a');
    for (int i = 0; i < 2000; ++i) text += static_cast<char>(random());
  }
  return text;
}

/// By Python's module, which is zlib's file format and not zlib's code that reads it.
std::string gzipped(const TemporaryFolder& folder, const std::string& text) {
  write_bytes(folder / "plain", text);
  const ProcessResult result = run_process(
      {"python3", "-c", "import gzip, sys; gzip.open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())",
       folder / "plain", folder / "packed"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_bytes(folder / "packed");
}

#ifdef MONOMORPH_HAS_ZSTD
std::string zstandard(const TemporaryFolder&, const std::string& text) {
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}
#endif

struct Format {
  std::string end;
  std::string (*compress)(const TemporaryFolder&, const std::string&);
};
const std::vector<Format>& formats() {
  static const std::vector<Format> formats{
#ifdef MONOMORPH_HAS_ZLIB
      {".gz", gzipped},
#endif
#ifdef MONOMORPH_HAS_ZSTD
      {".zst", zstandard},
#endif
  };
  return formats;
}

std::string write(const TemporaryFolder& folder, const std::string& end, const std::string& bytes) {
  write_bytes(folder / ("input" + end), bytes);
  return folder / ("input" + end);
}

/// A text that begins with a long line, as it is read, and the most of it that was held.
struct TextOfLongLine {
  std::size_t n_left;  ///< bytes of the line
  std::string end;     ///< what follows them
  std::size_t most_held = 0;

  std::string path() const { return "long.jsonl"; }
  bool read_more(std::string& text, std::size_t n_bytes) {
    const std::size_t n_read = std::min(n_left, n_bytes), old_size = text.size();
    text.append(n_read, 'x');
    if (n_read == 0) text += std::exchange(end, "");
    n_left -= n_read;
    most_held = std::max(most_held, text.size());
    return text.size() > old_size;
  }
};

/// Whether two long texts are equal, without printing them.
bool same(const std::string& left, const std::string& right) { return left == right; }

}  // namespace

TEST_CASE("a line that is longer than any may be is refused before it is in memory") {
  const TemporaryFolder folder;
  const std::string path = folder / "long.jsonl";
  write_bytes(path, "{}\n" + std::string(LineBuffer::most_line_bytes + (8 << 20), 'x') + "\n{}\n");
  TextLines lines(path);
  CHECK(lines.next()->text == "{}");
  const std::string message = error_of([&] { lines.next(); });
  CHECK(message.starts_with("[DATA-20] "));
  CHECK(contains(message, "long.jsonl\", line 2: the line is longer than 67108864 bytes"));
  write_bytes(path, std::string(LineBuffer::most_line_bytes / 2, 'x') + "\n{}\n");
  TextLines shorter(path);
  CHECK(shorter.next()->text.size() == LineBuffer::most_line_bytes / 2);
  CHECK(shorter.next()->text == "{}");
}

TEST_CASE("a line of any length is passed over if it is too long, and what follows is at its place") {
  constexpr std::size_t most = LineBuffer::most_line_bytes;
  for (const std::size_t n_bytes : {most, most + 1, 2 * most, 5 * most + 7}) {
    for (const std::string end : {"", "\n", "\n{}", "\n\n{}\n"}) {
      CAPTURE(n_bytes, end);
      TextOfLongLine input{n_bytes, end};
      LineBuffer lines;
      const auto line = lines.next_of_any_length(input);
      REQUIRE(line.has_value());
      CHECK(line->is_passed_over() == (n_bytes > most));
      CHECK(line->text.size() == (n_bytes > most ? 0 : n_bytes));
      CHECK(line->n_bytes == n_bytes);
      CHECK(line->has_newline == !end.empty());
      std::uint64_t offset = n_bytes + 1;
      std::string rest;
      for (auto next = lines.next_of_any_length(input); next; next = lines.next_of_any_length(input)) {
        CHECK(next->offset == offset);
        CHECK_FALSE(next->is_passed_over());
        rest += std::string(next->text) + (next->has_newline ? "\n" : "");
        offset += next->n_bytes + 1;
      }
      CHECK(rest == (end.empty() ? "" : end.substr(1)));
      CHECK(input.most_held <= 2 * most);
    }
  }
}

TEST_CASE("Compressed files read as their text, in pieces of any size and from anywhere") {
  const TemporaryFolder folder;
  for (const Format& format : formats()) {
    CAPTURE(format.end);
    for (const std::string& text : {std::string(), std::string("a\n"), sample_text(3 << 20)}) {
      const std::string path = write(folder, format.end, format.compress(folder, text));
      for (const std::size_t piece : {std::size_t{1} << 22, std::size_t{70'000}, std::size_t{997}})
        CHECK(same(text_of(path, piece), text));
      if (text.size() > 1'500'000) CHECK(same(text_of(path, 70'000, 1'500'000), text.substr(1'500'000)));
      CHECK(text_of(path, 70'000, text.size() + 1).empty());
      CHECK(TextInput(path).text_bytes() == 0);
    }
  }
}

TEST_CASE("A compressed file may have members one after the other") {
  const TemporaryFolder folder;
  for (const Format& format : formats()) {
    CAPTURE(format.end);
    const std::string text = sample_text(400'000), none = format.compress(folder, ""),
                      one = format.compress(folder, text), last = format.compress(folder, "end");
    CHECK(same(text_of(write(folder, format.end, none + one + none + last + none)), text + "end"));
  }
}

TEST_CASE("A compressed file that is cut short, damaged or something else is refused with a line") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& end, const std::string& bytes) {
    const std::string message = error_of([&] { text_of(write(folder, end, bytes)); });
    CHECK(contains(message, "[DATA-70]"));
    CHECK(contains(message, "input" + end));
    return message;
  };
  for (const Format& format : formats()) {
    CAPTURE(format.end);
    const std::string whole = format.compress(folder, "one line\nand another line\n");
    for (std::size_t n = 0; n < whole.size(); ++n)
      CHECK(contains(refused(format.end, whole.substr(0, n)), "cut short"));
    refused(format.end, whole + "no member");
    refused(format.end, "{\"text\": \"not compressed\"}\n");
    const std::string large = format.compress(folder, sample_text(1 << 20));
    for (const std::size_t n : {large.size() / 2, large.size() - 1})
      CHECK(contains(refused(format.end, large.substr(0, n)), "cut short"));
  }
#ifdef MONOMORPH_HAS_ZLIB
  std::string checked = gzipped(folder, sample_text(1 << 20));
  checked[checked.size() - 8] = static_cast<char>(checked[checked.size() - 8] ^ 1);
  CHECK(contains(refused(".gz", checked), "incorrect data check"));
#endif
}

#ifdef MONOMORPH_HAS_ZSTD
TEST_CASE("A bomb is refused, and so is a frame that takes more memory than any of ours") {
  const TemporaryFolder folder;
  const std::string zeros(std::size_t{64} << 20, '\0');
  const std::string frame = zstandard(folder, zeros);
  std::string bomb;
  for (int i = 0; i < 64; ++i) bomb += frame;
  const std::string message = error_of([&] {
    TextInput input(write(folder, ".zst", bomb));
    std::vector<char> piece(1 << 20);
    while (input.read_some(piece.data(), piece.size()) > 0) {
    }
  });
  CHECK(contains(message, "[DATA-72]"));
  // A frame's header that wants a window of 2^30 bytes, and nothing behind it: section 3.1.1.1.2 of RFC 8878.
  CHECK(contains(error_of([&] { text_of(write(folder, ".zst", std::string("\x28\xB5\x2F\xFD\x00\xA0", 6))); }),
                 "[DATA-70]"));
}
#endif
