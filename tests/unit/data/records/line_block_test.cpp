#include "data/records/line_block.hpp"
#include "data/records/block_pipeline.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

using namespace monomorph::data;

namespace {

using Lines = std::vector<std::pair<std::uint64_t, std::string>>;  // offset and text

Lines lines_of_blocks(const std::string& path, std::uint64_t offset = 0) {
  LineBlockReader reader(path, offset);
  LineBlock block;
  Lines lines;
  std::uint64_t end = offset;
  while (reader.next(block)) {
    CHECK(block.offset == end);
    end = block.end_offset;
    if (block.is_one_too_long) lines.emplace_back(block.offset, "too long");
    for_each_line(block, [&](std::string_view line, std::uint64_t at) {
      lines.emplace_back(at, line);
      return true;
    });
  }
  CHECK(end == std::filesystem::file_size(path));
  return lines;
}

Lines lines_of_text(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(begin, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("Blocks hold whole lines, whatever their lengths") {
  TemporaryFolder folder;
  std::mt19937 random(3);
  for (const std::string text : {"", "\n", "a", "a\n", "\n\n", "a\n\nb"})
    CHECK(lines_of_blocks(folder.write("short", text)) == lines_of_text(text));
  for (int i = 0; i < 6; ++i) {
    std::string text;
    while (text.size() < (3u << 20)) {
      const std::size_t longest = random() % 10 == 0 ? 900'000 : random() % 4 == 0 ? 5 : 3000;
      text += std::string(random() % longest, static_cast<char>('a' + random() % 26)) + "\n";
    }
    if (i % 2 == 0) text.pop_back();
    const auto expected = lines_of_text(text);
    const std::string path = folder.write("long", text);
    CHECK(lines_of_blocks(path) == expected);
    const std::size_t middle = expected.size() / 2;
    const Lines rest(expected.begin() + static_cast<std::ptrdiff_t>(middle), expected.end());
    CHECK(lines_of_blocks(path, expected[middle].first) == rest);
  }
}

TEST_CASE("A line of the greatest length is read, and of one that is longer only the place is given") {
  TemporaryFolder folder;
  const std::string longest(longest_line_bytes, 'x'), longer = longest + "y", much_longer(3 * longest_line_bytes, 'z');
  for (const std::string ending : {"", "\n", "\nb\nc"}) {
    CHECK(lines_of_blocks(folder.write("a", "a\n" + longest + ending)) == lines_of_text("a\n" + longest + ending));
    Lines expected = lines_of_text("a\n" + longer + ending);
    expected[1].second = "too long";
    CHECK(lines_of_blocks(folder.write("a", "a\n" + longer + ending)) == expected);
  }
  Lines expected = lines_of_text("a\n" + much_longer + "\nb\n" + longer);
  expected[1].second = expected[3].second = "too long";
  CHECK(lines_of_blocks(folder.write("a", "a\n" + much_longer + "\nb\n" + longer)) == expected);
}

TEST_CASE("A pipeline hands blocks on in order, each once, with any number of threads") {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + "\n";
  const std::string path = folder.write("a", text);
  for (const std::size_t n_threads : {1u, 2u, 3u, 7u}) {
    LineBlockReader reader(path);
    std::string together;
    using Pipeline = BlockPipeline<std::string>;
    const Pipeline::Work work = [](const LineBlock& block, std::string& result) { result = block.text(); };
    Pipeline(reader, std::vector<Pipeline::Work>(n_threads, work),
             [&](const LineBlock& block, const std::string& part) {
               CHECK(block.offset == together.size());
               together += part;
             })
        .run();
    CHECK(together == text);
  }
}

TEST_CASE("A pipeline goes on with what work has left of a block, in order") {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + "\n";
  const std::string path = folder.write("a", text);
  for (const std::size_t n_threads : {1u, 2u, 7u}) {
    LineBlockReader reader(path);
    Lines together;
    std::uint64_t done = 0;
    using Pipeline = BlockPipeline<Lines>;
    const Pipeline::Work work = [](LineBlock& block, Lines& result) {
      result.clear();
      for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
        result.emplace_back(offset, line);
        return result.size() < 100;
      });
    };
    Pipeline(reader, std::vector<Pipeline::Work>(n_threads, work), [&](const LineBlock& block, const Lines& part) {
      REQUIRE(part.size() <= 100);
      CHECK(block.done_offset() == part.back().first + part.back().second.size() + 1);
      done = block.done_offset();
      together.insert(together.end(), part.begin(), part.end());
    }).run();
    CHECK(done == text.size());
    CHECK(together == lines_of_text(text));
  }
}

TEST_CASE("Of several errors in a pipeline, the first of the file is thrown, and what is before it is handed on") {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + "\n";
  const std::string path = folder.write("a", text);
  for (int round = 0; round < 20; ++round) {
    LineBlockReader reader(path);
    std::atomic<int> n_waiting = 0;
    std::uint64_t handed_on = 0;
    using Pipeline = BlockPipeline<int>;
    const Pipeline::Work work = [&](const LineBlock& block, int&) {
      if (block.offset < (1u << 19)) return;
      if (++n_waiting == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the later ones fail earlier
      throw monomorph::Error("TEST-01", std::to_string(block.offset));
    };
    const std::string error = error_of([&] {
      Pipeline(reader, std::vector<Pipeline::Work>(4, work), [&](const LineBlock& block, int&) {
        handed_on = block.end_offset;
      }).run();
    });
    CHECK(handed_on >= (1u << 19));
    CHECK(error == "[TEST-01] " + std::to_string(handed_on));
  }
}

TEST_CASE("A pipeline works on few long blocks at once, and on many short ones") {
  const auto most_at_once = [](std::size_t memory_per_byte) {
    TemporaryFolder folder;
    const std::string path = folder.write("a", std::string(std::size_t{4} << 20, '\n'));
    LineBlockReader reader(path);
    std::atomic<int> n_now = 0, most = 0;
    using Pipeline = BlockPipeline<int>;
    const Pipeline::Work work = [&](const LineBlock&, int&) {
      most = std::max(most.load(), ++n_now);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --n_now;
    };
    Pipeline(
        reader, std::vector<Pipeline::Work>(4, work), [](const LineBlock&, int&) {}, memory_per_byte)
        .run();
    return most.load();
  };
  CHECK(most_at_once(std::size_t{128} << 20) == 1);
  CHECK(most_at_once(1) > 1);
}

TEST_CASE("Blocks of several files are those of one, but that lines end with their file") {
  TemporaryFolder folder;
  const std::vector<std::string> texts{"a\nb", "", "c\n", std::string(300'000, 'd') + "\n" + std::string(300'000, 'e'),
                                       "f"};
  std::vector<std::string> paths;
  for (const std::string& text : texts) paths.push_back(folder.write("file" + std::to_string(paths.size()), text));
  LineBlockReader reader(paths);
  std::size_t n_bytes = 0;
  for (const std::string& text : texts) n_bytes += text.size();
  CHECK(reader.file_bytes() == n_bytes);
  std::vector<std::string> lines;
  std::uint64_t end = 0;
  LineBlock block;
  while (reader.next(block)) {
    CHECK(block.offset == end);
    end = block.end_offset;
    const bool is_of_its_file = texts[block.input].substr(block.offset - block.input_begin, block.size) == block.text();
    CHECK(is_of_its_file);
    for_each_line(block, [&](std::string_view line, std::uint64_t) {
      lines.emplace_back(line.substr(0, 1));
      return true;
    });
  }
  CHECK(end == n_bytes);
  CHECK(lines == std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
  CHECK(contains(error_of([&] { LineBlockReader({paths.front(), folder.file("nowhere")}); }), "[FILE-01]"));
}
