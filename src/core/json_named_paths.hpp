#pragma once
#include "core/json_assign.hpp"

#include <monomorph/core/named_path.hpp>

#include <string>

namespace monomorph {

/// Receives the events of a JSON object of names and paths. What has no place is refused with a UsageError, after which
/// it goes on with what comes behind that name or value: nothing nests deeper. `where` is such as "run.json:4".
class NamedPathReader {
 public:
  explicit NamedPathReader(const FieldRef& field) : field_(field) {}

  void name(const std::string& name, const std::string& where);
  void value(const JsonScalar& value, const std::string& where);
  /// Stores the names and paths in the field, in the order of the names: an object of JSON has none.
  void end(const std::string& where);

 private:
  const FieldRef& field_;
  NamedPaths paths_;
};

}  // namespace monomorph
