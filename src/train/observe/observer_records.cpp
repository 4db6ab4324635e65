#include <monomorph/train/observe/observer_records.hpp>

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <filesystem>
#include <system_error>

namespace monomorph::train {
namespace {

std::string created_folder(const std::string& run_folder) {
  const std::string folder = run_folder + "/observer";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw_file_error("create", folder, failure.value());
  return folder;
}

}  // namespace

ObserverRecords::ObserverRecords(const std::string& run_folder, int rank, std::int64_t last_step)
    : folder_(created_folder(run_folder)),
      lines_(MetricsWriter::resume(path(fmt::format("rank-{}.jsonl", rank)), last_step)) {}

void ObserverRecords::write(std::int64_t step) {
  if (added_.empty()) return;
  const std::vector<Metric> metrics(added_.begin(), added_.end());
  lines_.write(step, metrics);
  added_.clear();
}

}  // namespace monomorph::train
