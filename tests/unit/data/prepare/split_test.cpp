#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/merge.hpp>
#include <monomorph/data/prepare/split.hpp>

using namespace monomorph::data;

namespace {

struct Parts {
  Documents train, held_out;
};

Parts parts(const TemporaryFolder& folder, const std::string& input, const SplitSettings& settings) {
  split(input, folder.file("train.pbin"), folder.file("held.pbin"), settings);
  return {documents_of(folder.file("train.pbin")), documents_of(folder.file("held.pbin"))};
}

bool in_order(const Documents& documents) { return std::is_sorted(documents.begin(), documents.end()); }

}  // namespace

TEST_CASE("A split has every document once, each part in order") {
  TemporaryFolder folder;
  const Documents documents = random_documents(2000, 30, 60000, 1);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  const auto [train, held_out] = parts(folder, input, {.size = {.fraction = 0.1}, .seed = 1});
  CHECK(held_out.size() == 200);
  CHECK(in_order(train));
  CHECK(in_order(held_out));
  merge({folder.file("train.pbin"), folder.file("held.pbin")}, folder.file("all.pbin"));
  CHECK(sorted(documents_of(folder.file("all.pbin"))) == documents);
  // Drawn from everywhere, not from one end.
  CHECK(held_out.front().front() < 200);
  CHECK(held_out.back().front() > 1800);
  CHECK(parts(folder, input, {.size = {.fraction = 0.1}, .seed = 1}).held_out == held_out);
  CHECK(parts(folder, input, {.size = {.fraction = 0.1}, .seed = 2}).held_out != held_out);
  // More of the same seed holds out the same and more.
  const Documents more = parts(folder, input, {.size = {.documents = 300}, .seed = 1}).held_out;
  CHECK(std::includes(more.begin(), more.end(), held_out.begin(), held_out.end()));
}

TEST_CASE("The tail is the end of the set") {
  TemporaryFolder folder;
  const Documents documents{{0, 0}, {1, 1, 1}, {2}, {3, 3}};
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  const auto tail = [&](HeldOutSize size) {
    return parts(folder, input, {.size = size, .tail = true}).held_out.size();
  };
  CHECK(tail({.documents = 1}) == 1);
  CHECK(parts(folder, input, {.size = {.documents = 2}, .tail = true}).held_out == Documents{{2}, {3, 3}});
  CHECK(tail({.fraction = 0.5}) == 2);
  CHECK(tail({.fraction = 0.0001}) == 1);
  // As few documents as have so many bytes, of 4, 2, 6 and 4 from the end.
  CHECK(tail({.bytes = 1}) == 1);
  CHECK(tail({.bytes = 4}) == 1);
  CHECK(tail({.bytes = 5}) == 2);
  CHECK(tail({.bytes = 6}) == 2);
  CHECK(tail({.bytes = 7}) == 3);
}

TEST_CASE("Bytes that are drawn at random are reached and not passed by more than a document") {
  TemporaryFolder folder;
  const Documents documents = random_documents(100000, 8, 250, 3);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{123456}}) {
    const SplitSizes sizes =
        split(input, folder.file("train.pbin"), folder.file("held.pbin"), {.size = {.bytes = bytes}, .seed = 9});
    CHECK(sizes.held_out.n_bytes >= bytes);
    CHECK(sizes.held_out.n_bytes < bytes + 18);
    CHECK(sizes.held_out.n_documents + sizes.train.n_documents == 100000);
  }
}

TEST_CASE("Lines are split like documents") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\r\n{\"a\": 3}");
  split(input, folder.file("train.jsonl"), folder.file("held.jsonl"), {.size = {.documents = 1}, .tail = true});
  CHECK(monomorph::read_text_file(folder.file("train.jsonl")) == "{\"a\": 1}\n{\"a\": 2}\r\n");
  CHECK(monomorph::read_text_file(folder.file("held.jsonl")) == "{\"a\": 3}\n");
}

TEST_CASE("A split that leaves a part empty is refused, and nothing is left") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(Documents{{1}, {2}}, 1));
  const std::string single = folder.write("one.pbin", packed_bytes(Documents{{1}}, 1));
  const auto error = [&](const std::string& path, HeldOutSize size) {
    return error_of([&] { split(path, folder.file("t.pbin"), folder.file("h.pbin"), {.size = size}); });
  };
  CHECK(contains(error(single, {.documents = 1}), "[DATA-42]"));
  CHECK(contains(error(input, {.documents = 2}), "[DATA-42]"));
  CHECK(contains(error(input, {.documents = 0}), "[DATA-42]"));
  CHECK(contains(error(input, {.documents = -1}), "[DATA-42]"));
  CHECK(contains(error(input, {.bytes = 3}), "[DATA-42]"));
  CHECK(contains(error(input, {.fraction = 0.0}), "[DATA-42]"));
  CHECK(contains(error(input, {.fraction = 1.0}), "[DATA-42]"));
  CHECK(contains(error(input, {.fraction = std::nan("")}), "[DATA-42]"));
  CHECK(contains(error(input, {.fraction = 0.9}), "[DATA-42]"));
  std::filesystem::create_directory(folder.file("h.pbin"));
  CHECK(contains(error(input, {.documents = 1}), "[FILE-04]"));
  CHECK(folder.n_entries() == 3);
}

TEST_CASE("Progress is told of every pass over a set that is split") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(Documents(70000, Tokens{1, 2}), 2));
  const auto check = [&](const SplitSettings& settings, std::uint64_t n_passes) {
    const std::uint64_t n_bytes = 70000 * 4;
    std::vector<std::uint64_t> done;
    split(input, folder.file("t.pbin"), folder.file("h.pbin"), settings, [&](std::uint64_t now, std::uint64_t total) {
      CHECK(total == n_passes * n_bytes);
      done.push_back(now);
    });
    for (std::uint64_t pass = 0; pass < n_passes; ++pass) {
      CHECK(std::any_of(done.begin(), done.end(),
                        [&](std::uint64_t now) { return now > pass * n_bytes && now < (pass + 1) * n_bytes; }));
    }
  };
  check({.size = {.documents = 10}}, 2);
  check({.size = {.bytes = 1000}}, 4);
}
