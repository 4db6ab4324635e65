#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/shuffle.hpp>

#include <sys/resource.h>

#include <map>
#include <numeric>
#include <set>

using namespace monomorph::data;

namespace {

constexpr std::uint64_t plenty = std::uint64_t{64} << 20;

Documents shuffled(const TemporaryFolder& folder, const std::string& input, std::uint64_t seed,
                   std::uint64_t memory_bytes = plenty) {
  const std::string output = folder.file("shuffled.pbin");
  shuffle(input, output, {seed, memory_bytes});
  return documents_of(output);
}

std::vector<Chunk> all_chunks(const TemporaryFolder& folder, std::int64_t n) {
  std::vector<Chunk> chunks;
  for (std::int64_t i = 1; i <= n; ++i) chunks.push_back({i, folder.file("chunk" + std::to_string(i) + ".pbin")});
  return chunks;
}

}  // namespace

TEST_CASE("Shuffling is a permutation, the same for a seed and another for another, whatever the memory") {
  TemporaryFolder folder;
  const Documents documents = random_documents(5000, 60, 60000, 1);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  const Documents once = shuffled(folder, input, 7);
  CHECK(once != documents);
  CHECK(sorted(once) == sorted(documents));
  CHECK(shuffled(folder, input, 8) != once);
  CHECK(sorted(shuffled(folder, input, 8)) == sorted(documents));
  // One byte: every document is laid apart from every other, level by level.
  for (const std::uint64_t memory_bytes : {plenty, std::uint64_t{100000}, std::uint64_t{3000}, std::uint64_t{1}}) {
    INFO(memory_bytes << " bytes");
    CHECK(shuffled(folder, input, 7, memory_bytes) == once);
  }
  CHECK(folder.n_entries() == 2);
}

TEST_CASE("Shuffling level by level keeps within the files that a process may have open") {
  struct FewFiles {
    FewFiles() {
      ::getrlimit(RLIMIT_NOFILE, &before);
      const rlimit few{64, before.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before); }
    rlimit before{};
  };
  TemporaryFolder folder;
  const Documents documents = random_documents(5000, 10, 60000, 1);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  const Documents once = shuffled(folder, input, 7);
  const FewFiles limit;
  CHECK(shuffled(folder, input, 7, 1) == once);
}

TEST_CASE("Progress is told of every pass over a set, and rises to the end") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(Documents(70000, Tokens{1, 2}), 2));
  std::vector<std::uint64_t> done;
  std::uint64_t total = 0;
  shuffle(input, folder.file("b.pbin"), {1, plenty}, [&](std::uint64_t now, std::uint64_t of) {
    done.push_back(now);
    total = of;
  });
  const std::uint64_t n_bytes = 70000 * 4;
  CHECK(total == 3 * n_bytes);
  CHECK(std::is_sorted(done.begin(), done.end()));
  for (std::uint64_t pass = 0; pass < 3; ++pass) {
    CHECK(std::any_of(done.begin(), done.end(),
                      [&](std::uint64_t now) { return now > pass * n_bytes && now < (pass + 1) * n_bytes; }));
  }
}

TEST_CASE("Documents much longer than the memory, and empty ones, are shuffled too") {
  TemporaryFolder folder;
  Documents documents{{}, {1}, {}, {2, 3}};
  documents.emplace_back(3 << 20, 4);
  documents.emplace_back(5 << 20, 5);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 1));
  const Documents once = shuffled(folder, input, 3, 1 << 20);
  CHECK(sorted(once) == sorted(documents));
  CHECK(shuffled(folder, input, 3) == once);
}

TEST_CASE("Every order of a few documents comes about as often as any other") {
  TemporaryFolder folder;
  const Documents documents{{0}, {1}, {2}, {3}};
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 1));
  std::map<Documents, int> counts;
  constexpr int n_seeds = 480;
  for (int seed = 0; seed < n_seeds; ++seed) ++counts[shuffled(folder, input, static_cast<std::uint64_t>(seed))];
  CHECK(counts.size() == 24);
  // 20 of each are expected: chi-squared with 23 degrees of freedom stays below 49.7 but for one time in a thousand.
  double chi_squared = 0;
  for (const auto& [order, count] : counts) chi_squared += (count - 20.0) * (count - 20.0) / 20.0;
  CHECK(chi_squared < 49.7);
}

TEST_CASE("Lines are shuffled as documents are, and the last gets its newline") {
  TemporaryFolder folder;
  std::string text;
  std::multiset<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string line =
        "{\"text\": \"" + std::string(static_cast<std::size_t>(i % 90), 'x') + std::to_string(i) + "\"}";
    expected.insert(line);
    text += line + (i < 999 ? "\n" : "");
  }
  const std::string input = folder.write("a.jsonl", text);
  std::string once;
  for (const std::uint64_t memory_bytes : {plenty, std::uint64_t{2000}}) {
    const SetSize size = shuffle(input, folder.file("b.jsonl"), {5, memory_bytes});
    CHECK(size.n_documents == 1000);
    const std::string shuffled_text = monomorph::read_text_file(folder.file("b.jsonl"));
    CHECK(shuffled_text.size() == text.size() + 1);
    const auto lines = lines_of(folder.file("b.jsonl"));
    CHECK(std::multiset<std::string>(lines.begin(), lines.end()) == expected);
    if (once.empty()) once = shuffled_text;
    CHECK(shuffled_text == once);
  }
}

TEST_CASE("Chunks are disjoint and complete, and one after the other the shuffled set") {
  TemporaryFolder folder;
  const Documents documents = random_documents(1003, 30, 250, 2);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  for (const std::int64_t n : {1, 2, 7, 1003}) {
    INFO(n << " chunks");
    const auto chunks = all_chunks(folder, n);
    const auto sizes = write_chunks(input, chunks, n, {11, 5000});
    Documents joined;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Documents part = documents_of(chunks[i].output);
      CHECK(sizes[i].n_documents == static_cast<std::int64_t>(part.size()));
      CHECK(part.size() >= documents.size() / static_cast<std::size_t>(n));
      CHECK(part.size() <= documents.size() / static_cast<std::size_t>(n) + 1);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    CHECK(joined == shuffled(folder, input, 11));
  }
}

TEST_CASE("A chunk that is written alone is the one that all together give") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(random_documents(500, 30, 250, 3), 2));
  const auto chunks = all_chunks(folder, 6);
  write_chunks(input, chunks, 6, {4, plenty});
  for (const Chunk& chunk : chunks) {
    write_chunks(input, {{chunk.number, folder.file("alone.pbin")}}, 6, {4, 700});
    CHECK(documents_of(folder.file("alone.pbin")) == documents_of(chunk.output));
  }
}

TEST_CASE("What cannot be shuffled or cut is refused, and nothing is left") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(Documents{{1}, {2}}, 1));
  const std::string empty = folder.write("none.pbin", packed_bytes(Documents{}, 1));
  const std::string blank = folder.write("blank.jsonl", "{}\n\n{}\n");
  const std::string nothing = folder.write("nothing.jsonl", "");
  const std::string other = folder.write("a.txt", "x");
  const std::string output = folder.file("out.pbin");
  const auto chunk_error = [&](std::int64_t number, std::int64_t n) {
    return error_of([&] { write_chunks(input, {{number, output}}, n, {}); });
  };
  CHECK(contains(chunk_error(0, 2), "[DATA-42]"));
  CHECK(contains(chunk_error(3, 2), "[DATA-42]"));
  CHECK(contains(chunk_error(1, 3), "[DATA-42]"));
  CHECK(contains(error_of([&] { shuffle(empty, output, {}); }), "[DATA-42]"));
  CHECK(contains(error_of([&] { shuffle(blank, folder.file("out.jsonl"), {}); }), "[DATA-02]"));
  CHECK(contains(error_of([&] { shuffle(nothing, output, {}); }), "[DATA-04]"));
  CHECK(contains(error_of([&] { shuffle(other, output, {}); }), "[DATA-40]"));
  CHECK(contains(error_of([&] { shuffle(folder.file("no.jsonl"), output, {}); }), "[FILE-01]"));
  CHECK(contains(error_of([&] { shuffle(input, folder.file("no/out.pbin"), {}); }), "[FILE-01]"));
  CHECK(folder.n_entries() == 5);
}

TEST_CASE("If one of several chunks cannot be put in its place, none is") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(Documents{{1}, {2}, {3}}, 1));
  std::filesystem::create_directory(folder.file("chunk3.pbin"));
  CHECK(contains(error_of([&] { write_chunks(input, all_chunks(folder, 3), 3, {}); }), "[FILE-04]"));
  CHECK(folder.n_entries() == 2);
}
