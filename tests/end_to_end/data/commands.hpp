#pragma once
#include "support/process.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

/// monomorph-data as a user calls it.
namespace monomorph::testing {

using Arguments = std::vector<std::string>;

/// monomorph-data of this build with these arguments.
Arguments data_command(const Arguments& arguments);
ProcessResult run_data(const Arguments& arguments);
/// The one JSON object that a command with --json prints. Fails if it prints anything else or does not succeed.
nlohmann::json run_data_json(Arguments arguments);
/// Runs a command where `folder` is a disk of a few bytes that only it sees. False if the machine does not allow that.
bool run_on_small_disk(const std::string& folder, const std::string& size, const Arguments& command,
                       ProcessResult& result);

/// That a command refuses: exit code, nothing on standard output, one line on standard error with these parts.
void check_refused(const ProcessResult& result, int exit_code, const std::vector<std::string>& parts);

std::string data_fixture(const std::string& name);
/// JSON Lines of Shakespeare, about this long.
std::string shakespeare_lines(std::size_t n_bytes);

}  // namespace monomorph::testing
