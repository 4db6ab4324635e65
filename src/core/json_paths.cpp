#include "core/json_paths.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph {
namespace {

constexpr std::string_view path_key = "path", weight_key = "weight";

}  // namespace

std::string PathListReader::entry_name() const {
  return fmt::format("{}[{}]", field_.name, in_object_ ? paths_.size() - 1 : paths_.size());
}

void PathListReader::value(const JsonScalar& value, const std::string& where) {
  if (!in_object_) {
    const std::string name = entry_name();
    WeightedPath& entry = paths_.emplace_back();
    assign({name, field_.doc, &entry.path}, value, where);
    return;
  }
  WeightedPath& entry = paths_.back();
  const std::string name = entry_name() + "." + key_;
  if (key_ == path_key) {
    assign({name, field_.doc, &entry.path}, value, where);
  } else {
    assign({name, field_.doc, RealRef{&entry.weight, least_weight, greatest_weight}}, value, where);
  }
}

void PathListReader::begin_object(const std::string& where) {
  if (in_object_) value(JsonOther{"an object"}, where);
  paths_.emplace_back();
  in_object_ = true;
  has_unknown_key_ = false;
  keys_.clear();
}

void PathListReader::key(const std::string& name, const std::string& where) {
  if (name != path_key && name != weight_key) {
    has_unknown_key_ = true;
    throw UsageError("HPARAM-01", fmt::format("{} is no member of {} ({}); it may have \"{}\" and \"{}\"",
                                              in_quotes(name), entry_name(), where, path_key, weight_key));
  }
  if (!keys_.insert(name).second) {
    throw UsageError("HPARAM-04", fmt::format("{}.{} must be given once ({}); remove one", entry_name(), name, where));
  }
  key_ = name;
}

void PathListReader::end_object(const std::string& where) {
  const std::string name = entry_name();
  in_object_ = false;
  if (keys_.contains(std::string(path_key)) || has_unknown_key_) return;  // which may have been meant for it
  throw UsageError("HPARAM-02",
                   fmt::format("{} must have a \"{}\" ({}); it means: {}", name, path_key, where, field_.doc));
}

void PathListReader::end_array(const std::string& where) {
  if (paths_.empty()) reject_range(field_, "an empty array", where);
  *std::get<WeightedPaths*>(field_.target) = std::move(paths_);
}

}  // namespace monomorph
