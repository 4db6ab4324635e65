#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/train/report/metrics.hpp>

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <sstream>

namespace {

using namespace monomorph::train;
using namespace monomorph::testing;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("metrics.jsonl has one JSON object per line that reads back to the same values") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  {
    auto writer = MetricsWriter::create(path);
    writer.write(1, {{"loss", 0.1 + 0.2}, {"tokens", std::int64_t{9'007'199'254'740'993}}, {"event", "a \"b\"\n"}});
    CHECK(read_bytes(path).ends_with("}\n"));  // there before the file is closed
    writer.write(2, {{"loss", not_a_number}, {"grad_norm", infinity}, {"change", -infinity}});
    writer.write(3, {});
  }
  const std::string text = read_bytes(path);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto first = nlohmann::json::parse(line);
  CHECK(first["step"] == 1);
  CHECK(first["loss"].get<double>() == 0.1 + 0.2);
  CHECK(first["tokens"].get<std::int64_t>() == 9'007'199'254'740'993);
  CHECK(first["event"] == "a \"b\"\n");
  std::getline(lines, line);
  CHECK(line == R"({"step": 2, "loss": "NaN", "grad_norm": "Infinity", "change": "-Infinity"})");
  std::getline(lines, line);
  CHECK(line == R"({"step": 3})");
}

TEST_CASE("a new run begins a new file") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  write_bytes(path, "old\n");
  MetricsWriter::create(path).write(1, {});
  CHECK(read_bytes(path) == "{\"step\": 1}\n");
}

TEST_CASE("a resumed run drops the records of steps that it will do again") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  const std::string kept = "{\"step\": 0}\n{\"step\": 9}\n{\"step\": 10}\n{\"step\": 10, \"evaluation_loss\": 2}\n";
  for (const std::string rest : {"", "{\"step\": 11}\n{\"step\": 12}\n", "{\"step\": 10, \"lo", "{\"step\": 11}",
                                 "{\"step\": 11}\n{\"step\"", "{\"step\": 10}"}) {
    write_bytes(path, kept + rest);
    MetricsWriter::resume(path, 10).write(11, {{"loss", 1.5}});
    CHECK(read_bytes(path) == kept + "{\"step\": 11, \"loss\": 1.5}\n");
  }
  write_bytes(path, kept);
  MetricsWriter::resume(path, 0);
  CHECK(read_bytes(path) == "{\"step\": 0}\n");
}

TEST_CASE("a resumed run without metrics begins a file") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  MetricsWriter::resume(path, 10).write(11, {});
  CHECK(read_bytes(path) == "{\"step\": 11}\n");
}

TEST_CASE("a line that is no record is named and the file left as it is") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  const std::string with_nul("{\"step\": 1}\0x", 13);
  for (const std::string& line : std::vector<std::string>{"", "[]", "{}", "{\"step\": \"1\"}", "{\"step\": 1.5}",
                                                          "{\"step\": 1} x", "\xff", with_nul}) {
    const std::string text = "{\"step\": 1}\n" + line + "\n{\"step\": 2}\n";
    write_bytes(path, text);
    const std::string message = error_of([&] { MetricsWriter::resume(path, 10); });
    CHECK(contains(message, "[METRICS-01]"));
    CHECK(contains(message, "metrics.jsonl\":2"));
    CHECK(read_bytes(path) == text);
  }
}

TEST_CASE("a full disk and a missing folder are reported") {
  const TemporaryFolder folder;
  auto writer = MetricsWriter::create("/dev/full");
  CHECK(contains(error_of([&] { writer.write(1, {}); }), "[FILE-02]"));
  CHECK(contains(error_of([&] { MetricsWriter::create(folder / "no/metrics.jsonl"); }), "[FILE-01]"));
  CHECK(contains(error_of([&] { MetricsWriter::create(folder.path()); }), "[FILE-03]"));
}

TEST_CASE("a run that is killed leaves whole records") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = MetricsWriter::create(path);
    for (std::int64_t step = 1; step <= 100; ++step) writer.write(step, {{"loss", 1.0}});
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const std::string text = read_bytes(path);
  CHECK(std::ranges::count(text, '\n') == 100);
  CHECK(text.ends_with("{\"step\": 100, \"loss\": 1}\n"));
}
