#include "commands.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::testing {

Arguments data_command(const Arguments& arguments) {
  Arguments command{std::string(MONOMORPH_BINARY_DIR) + "/monomorph-data"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

ProcessResult run_data(const Arguments& arguments) { return run_process(data_command(arguments)); }

nlohmann::json run_data_json(Arguments arguments) {
  arguments.push_back("--json");
  const ProcessResult result = run_data(arguments);
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(std::ranges::count(result.out, '\n') == 1);
  CHECK(result.err.empty());
  return nlohmann::json::parse(result.out);
}

bool run_on_small_disk(const std::string& folder, const std::string& size, const Arguments& command,
                       ProcessResult& result) {
  const std::string script =
      "mount -t tmpfs -o size=\"$1\" tmpfs \"$2\" || exit 77\n"
      "folder=$2\n"
      "shift 2\n"
      "\"$@\"\n"
      "code=$?\n"
      "ls -A \"$folder\"\n"
      "exit $code\n";
  Arguments all{"unshare", "--map-root-user", "--mount", "bash", "-c", script, "bash", size, folder};
  all.insert(all.end(), command.begin(), command.end());
  result = run_process(all);
  return result.exit_code != 77 && !contains(result.err, "unshare");
}

void check_refused(const ProcessResult& result, int exit_code, const std::vector<std::string>& parts) {
  CAPTURE(result.err);
  CHECK(result.exit_code == exit_code);
  CHECK(std::ranges::count(result.err, '\n') == 1);
  for (const std::string& part : parts) {
    CAPTURE(part);
    CHECK(contains(result.err, part));
  }
}

std::string data_fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/data/" + name;
}

std::string shakespeare_lines(std::size_t n_bytes) {
  static const std::string text = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt");
  constexpr std::size_t document_bytes = 2000;
  std::string lines;
  for (std::size_t i = 0; lines.size() < n_bytes; i = (i + 1777) % (text.size() - document_bytes))
    lines += nlohmann::json{{"text", text.substr(i, document_bytes)}}.dump() + "\n";
  return lines;
}

}  // namespace monomorph::testing
