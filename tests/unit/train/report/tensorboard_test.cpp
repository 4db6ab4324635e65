#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"

#include <monomorph/train/report/tensorboard.hpp>

#include <nlohmann/json.hpp>

#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace monomorph::train;
using namespace monomorph::testing;

template <class Word> Word word_at(const std::string& bytes, std::size_t offset) {
  Word word;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

/// As TensorFlow's crc32c.h has it: rotated right by 15 bits, plus a constant.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

/// The records of a TFRecord file, whose checksums are checked.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (std::size_t offset = 0; offset < file.size();) {
    REQUIRE(file.size() - offset >= 12);
    const auto size = word_at<std::uint64_t>(file, offset);
    REQUIRE(word_at<std::uint32_t>(file, offset + 8) == masked(crc32c(file.substr(offset, 8))));
    REQUIRE(file.size() - offset >= size + 16);
    records.push_back(file.substr(offset + 12, size));
    REQUIRE(word_at<std::uint32_t>(file, offset + 12 + size) == masked(crc32c(records.back())));
    offset += size + 16;
  }
  return records;
}

/// What the tensorboard package reads from a folder.
nlohmann::json read_with_tensorboard(const std::string& folder) {
  const std::string root = MONOMORPH_SOURCE_DIR;
  const ProcessResult result = run_process(
      bash("PYTHONPATH=\"$1/.deps/test-python:$PYTHONPATH\" exec python3 \"$1/tests/support/read_events.py\" \"$2\"",
           {root, folder}));
  INFO(result.err);
  INFO("where the tensorboard package is missing, tools/setup/install --tests installs it");
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out);
}

}  // namespace

// RFC 3720, appendix B.4; the check value of the polynomial for "123456789" is that of the catalogues of CRCs.
TEST_CASE("CRC-32C test vectors") {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  for (int i = 31; i >= 0; --i) descending += static_cast<char>(i);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(crc32c(ascending) == 0x46dd794eu);
  CHECK(crc32c(descending) == 0x113fdb5cu);
  CHECK(crc32c("123456789") == 0xe3069283u);
  CHECK(crc32c("") == 0u);
}

TEST_CASE("an event file is framed records: the version, then one per step") {
  const TemporaryFolder folder;
  EventWriter writer(folder.path());
  writer.write(300, {{"a", 1.0}, {"b", -2.5}});
  CHECK(contains(writer.path(), "/events.out.tfevents."));
  const std::vector<std::string> records = records_of(read_bytes(writer.path()));
  REQUIRE(records.size() == 2);
  CHECK(records[0].substr(9) ==
        "\x1a\x0d"
        "brain.Event:2");  // after the time: field 3, 13 bytes
  // Worked by hand: step (field 2) 300 = ac 02; summary (field 5) of two values (field 1), each tag (1) and float (2).
  const std::string expected(
      "\x10\xac\x02\x2a\x14"
      "\x0a\x08\x0a\x01"
      "a"
      "\x15\x00\x00\x80\x3f"
      "\x0a\x08\x0a\x01"
      "b"
      "\x15\x00\x00\x20\xc0",
      25);
  CHECK(records[1].substr(9) == expected);
  CHECK(records[1][0] == '\x09');  // field 1, a double: seconds since 1970
  CHECK(std::bit_cast<double>(word_at<std::uint64_t>(records[1], 1)) > 1.7e9);
}

TEST_CASE("two writers of one folder have two files") {
  const TemporaryFolder folder;
  const EventWriter first(folder.path()), second(folder.path());
  CHECK(first.path() != second.path());
  CHECK(n_entries(folder.path()) == 2);
}

TEST_CASE("TensorBoard reads what we write, and a resumed run replaces the steps that it repeats") {
  const TemporaryFolder folder;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string long_tag = "train/" + std::string(300, 'x');  // lengths that need two bytes
  {
    EventWriter writer(folder.path());
    for (std::int64_t step = 1; step <= 6; ++step) {
      writer.write(step, {{"train/loss", 1.0 / static_cast<double>(step)}, {"train/lr", 3e-4}, {long_tag, 1e38}});
    }
  }
  {
    EventWriter writer(folder.path(), 5);
    writer.write(5, {{"train/loss", 50.0}});
    writer.write(1'000'000'000'000, {{"train/loss", infinity}});
  }
  const auto scalars = read_with_tensorboard(folder.path());
  const auto& loss = scalars.at("train/loss");
  REQUIRE(loss.size() == 6);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(loss[i][0] == i + 1);
    CHECK(std::stof(loss[i][1].get<std::string>()) == 1.0f / static_cast<float>(i + 1));
  }
  CHECK(loss[4][0] == 5);
  CHECK(loss[4][1] == "50.0");
  CHECK(loss[5][0] == 1'000'000'000'000);
  CHECK(loss[5][1] == "inf");
  CHECK(scalars.at(long_tag).size() == 4);
  CHECK(std::stof(scalars.at("train/lr")[0][1].get<std::string>()) == 3e-4f);
}

TEST_CASE("event files that cannot be written are reported") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { EventWriter(folder / "missing"); }), "[FILE-01]"));
}
