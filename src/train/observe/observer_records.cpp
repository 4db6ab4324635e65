#include <monomorph/train/observe/observer_records.hpp>

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <filesystem>
#include <system_error>

namespace monomorph::train {

ObserverRecords::ObserverRecords(const std::string& run_folder, int rank, std::int64_t last_step)
    : folder_(run_folder + "/observer"), file_(path(fmt::format("rank-{}.jsonl", rank))) {
  open(last_step);
}

void ObserverRecords::open(std::int64_t last_step) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure) throw_file_error("create", folder_, failure.value());
  lines_.emplace(MetricsWriter::resume(file_, last_step));
}

void ObserverRecords::write(std::int64_t step) {
  if (added_.empty()) return;
  const std::vector<Metric> metrics(added_.begin(), added_.end());
  if (!lines_->is_in_place()) open(step - 1);
  lines_->write(step, metrics);
  added_.clear();
}

}  // namespace monomorph::train
