#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/train/report/metrics.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace monomorph::train {
namespace {

std::string value_text(const MetricValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return json_number(*real);
  return json_string(std::get<std::string_view>(value));
}

std::int64_t step_of(const std::string& line, const std::string& path, std::int64_t line_number) {
  const auto record = parsed_json(line);
  if (record.is_object() && record.contains("step") && record["step"].is_number_integer()) {
    return record["step"].get<std::int64_t>();
  }
  throw Error("METRICS-01",
              fmt::format("each line must be a JSON object with a \"step\" ({}:{}); repair or move the file, "
                          "then resume",
                          in_quotes(path), line_number));
}

/// The bytes of the records of the first `step` steps.
std::uint64_t bytes_until(const std::string& path, std::int64_t step) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t size = 0;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no newline: torn
    if (step_of(line, path, number) > step) break;
    size += line.size() + 1;
  }
  return size;
}

}  // namespace

MetricsWriter MetricsWriter::create(const std::string& path) {
  return MetricsWriter(AppendFile(path, AppendFile::Mode::create));
}

MetricsWriter MetricsWriter::resume(const std::string& path, std::int64_t step) {
  AppendFile file(path, AppendFile::Mode::existing_or_new);
  file.truncate(bytes_until(path, step));
  return MetricsWriter(std::move(file));
}

void MetricsWriter::write(std::int64_t step, std::span<const Metric> metrics) {
  std::string line = fmt::format(R"({{"step": {})", step);
  for (const auto& [name, value] : metrics) line += fmt::format(", {}: {}", json_string(name), value_text(value));
  file_.append(line + "}\n");
}

}  // namespace monomorph::train
