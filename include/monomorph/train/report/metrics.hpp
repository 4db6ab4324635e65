#pragma once
#include <monomorph/train/report/append_file.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace monomorph::train {

using MetricValue = std::variant<std::int64_t, double, std::string_view>;
using Metric = std::pair<std::string_view, MetricValue>;

/// metrics.jsonl: one JSON object per line, handed to the system whole as soon as it is written, so that a killed run
/// leaves at most one torn line. See docs/reference/metrics.md.
class MetricsWriter {
 public:
  /// Begins a new file; an existing one is emptied.   @throws Error [FILE-01], [FILE-03]
  static MetricsWriter create(const std::string& path);

  /// Continues a file after the records of the first `step` steps. An incomplete last line is cut off, and so is
  /// everything from the first record of a later step on. A missing file is created.
  /// @throws Error [FILE-01], [FILE-03]; [METRICS-01] a whole line is no record
  static MetricsWriter resume(const std::string& path, std::int64_t step);

  /// Appends `{"step":…, name: value, …}`; `step` counts finished optimiser steps. Numbers are written in the shortest
  /// form that reads back to the same bits; "NaN", "Infinity" and "-Infinity" are strings, JSON having no such numbers.
  /// @throws Error [FILE-02] the disk is full, [FILE-03]
  void write(std::int64_t step, std::span<const Metric> metrics);
  void write(std::int64_t step, std::initializer_list<Metric> metrics) { write(step, std::span(metrics)); }

  /// Whether the path still names the file that records are written to.
  bool is_in_place() const { return file_.is_in_place(); }

 private:
  explicit MetricsWriter(AppendFile file) : file_(std::move(file)) {}
  AppendFile file_;
};

}  // namespace monomorph::train
