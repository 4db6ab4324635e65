#include <monomorph/train/report/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace monomorph::train {
namespace {

/// A part of the live line; of parts that do not fit, those with the highest rank are left out.
struct Part {
  int rank;
  std::string text;
};

/// The kinds of work that took most of the step, in per cent of it: "products 61 attention 17 other 9".
std::string work_text(const WorkSeconds& seconds) {
  std::vector<std::pair<double, std::string_view>> kinds{
      {seconds.products, "products"}, {seconds.attention, "attention"}, {seconds.elementwise, "elementwise"},
      {seconds.loss, "loss"},         {seconds.optimizer, "optimizer"}, {seconds.collectives, "collectives"},
      {seconds.copies, "copies"},     {seconds.data, "data"},           {seconds.other, "other"}};
  constexpr std::size_t most_shown = 3;
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &std::pair<double, std::string_view>::first);
  std::string text;
  for (std::size_t i = 0; i < most_shown; ++i)
    text += fmt::format("{}{} {:.0f}%", i == 0 ? "" : " ", kinds[i].second,
                        seconds.whole() > 0 ? 100 * kinds[i].first / seconds.whole() : 0.0);
  return text;
}

std::vector<Part> parts_of(const StepReport& report) {
  const double percent =
      report.total_steps > 0 ? 100.0 * static_cast<double>(report.step) / static_cast<double>(report.total_steps) : 0.0;
  std::vector<Part> parts;
  parts.push_back({0, fmt::format("step {}/{} {:3.0f}%", report.step, report.total_steps, std::floor(percent))});
  parts.push_back({1, fmt::format("loss {:.4f}", report.loss)});
  for (const auto& [name, value] : report.objective_metrics)
    parts.push_back({3, fmt::format("{} {:.4g}", name, value)});
  parts.push_back({5, fmt::format("lr {:.2e}", report.lr)});
  if (report.grad_norm) parts.push_back({6, fmt::format("grad {:.3g}", *report.grad_norm)});
  parts.push_back({4, format_count(report.tokens_per_second) + " tok/s"});
  if (report.mfu) parts.push_back({7, fmt::format("MFU {:.1f}%", 100.0 * *report.mfu)});
  if (report.roof_fraction) parts.push_back({8, fmt::format("roof {:.1f}%", 100.0 * *report.roof_fraction)});
  parts.push_back({9, format_bytes(report.peak_memory_bytes)});
  parts.push_back({10, fmt::format("data wait {:.1f}%", 100.0 * report.data_wait_fraction)});
  if (report.work_seconds) parts.push_back({11, work_text(*report.work_seconds)});
  if (report.skipped > 0) parts.push_back({3, fmt::format("{} skipped", report.skipped)});
  if (report.seconds_left) parts.push_back({2, format_duration(*report.seconds_left) + " left"});
  return parts;
}

constexpr std::string_view separator = "  ";

std::string join(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) line += (line.empty() ? "" : std::string(separator)) + part.text;
  return line;
}

std::string optional_number(const std::optional<double>& value, fmt::format_string<const double&> format) {
  return value ? fmt::format(format, *value) : "-";
}

}  // namespace

std::string live_line(const StepReport& report, std::size_t width) {
  std::vector<Part> parts = parts_of(report);
  while (parts.size() > 1 && join(parts).size() > width) parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
  return join(parts).substr(0, width);
}

std::string log_line(const StepReport& report) {
  const std::string total = std::to_string(report.total_steps);
  std::string line = fmt::format(
      "step {:>{}}/{}  loss {:<8.4f}  lr {:<9.3e}  grad_norm {:<9}  tokens/s {:<9.0f}  mfu {:<6}  mfu_palm {:<6}  "
      "mfu_6n {:<6}  hfu {:<6}  roof {:<6}  peak_memory_mib {:<7}  data_wait {:<6.4f}  seconds_left {:<7}  skipped {}",
      report.step, total.size(), total, report.loss, report.lr, optional_number(report.grad_norm, "{:.4g}"),
      report.tokens_per_second, optional_number(report.mfu, "{:.4f}"), optional_number(report.mfu_palm, "{:.4f}"),
      optional_number(report.mfu_6n, "{:.4f}"), optional_number(report.hfu, "{:.4f}"),
      optional_number(report.roof_fraction, "{:.4f}"), report.peak_memory_bytes >> 20, report.data_wait_fraction,
      optional_number(report.seconds_left, "{:.0f}"), report.skipped);
  line += fmt::format("  work {}", report.work_seconds ? work_text(*report.work_seconds) : "-");
  for (const auto& [name, value] : report.objective_metrics) line += fmt::format("  {} {:<8.4f}", name, value);
  return line;
}

}  // namespace monomorph::train
