#include "core/json_named_paths.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph {

void NamedPathReader::name(const std::string& name, const std::string& where) {
  if (std::ranges::find(paths_, name, &NamedPath::name) != paths_.end())
    throw UsageError("HPARAM-04",
                     fmt::format("{}.{} must be given once ({}); remove one", field_.name, in_quotes(name), where));
  paths_.push_back({.name = name, .path = {}});
}

void NamedPathReader::value(const JsonScalar& value, const std::string& where) {
  NamedPath& entry = paths_.back();
  assign({fmt::format("{}.{}", field_.name, in_quotes(entry.name)), field_.doc, &entry.path}, value, where);
}

void NamedPathReader::end(const std::string& where) {
  if (paths_.empty()) reject_range(field_, "an empty object", where);
  std::ranges::sort(paths_, {}, &NamedPath::name);
  *std::get<NamedPaths*>(field_.target) = std::move(paths_);
}

}  // namespace monomorph
