#include <monomorph/core/file_error.hpp>
#include <monomorph/train/observe/observer_records.hpp>
#include <monomorph/train/report/metrics.hpp>

#include <fmt/format.h>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace monomorph::train {

struct ObserverRecords::Lines {
  /// @param last_step of those whose records stay
  void open(std::int64_t last_step) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw_file_error("create", folder, failure.value());
    writer.emplace(MetricsWriter::resume(file, last_step));
  }

  std::string folder, file;
  std::vector<std::pair<std::string, MetricValue>> added{};
  std::optional<MetricsWriter> writer{};
};

ObserverRecords::ObserverRecords(const std::string& run_folder, int rank, std::int64_t last_step)
    : lines_(make_owned<Lines>(Lines{.folder = run_folder + "/observer",
                                     .file = fmt::format("{}/observer/rank-{}.jsonl", run_folder, rank)})) {
  lines_->open(last_step);
}
ObserverRecords::ObserverRecords(ObserverRecords&&) noexcept = default;
ObserverRecords::~ObserverRecords() = default;

void ObserverRecords::add(std::string_view name, double value) { lines_->added.emplace_back(name, value); }
void ObserverRecords::add_count(std::string_view name, std::int64_t value) { lines_->added.emplace_back(name, value); }

std::string ObserverRecords::path(std::string_view file) const { return lines_->folder + "/" + std::string(file); }

void ObserverRecords::write(std::int64_t step) {
  if (lines_->added.empty()) return;
  const std::vector<Metric> metrics(lines_->added.begin(), lines_->added.end());
  if (!lines_->writer->is_in_place()) lines_->open(step - 1);
  lines_->writer->write(step, metrics);
  lines_->added.clear();
}

}  // namespace monomorph::train
