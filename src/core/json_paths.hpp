#pragma once
#include "core/json_assign.hpp"

#include <monomorph/core/weighted_path.hpp>

#include <set>
#include <string>

namespace monomorph {

/// Receives the events of a JSON array of weighted paths: each a string, or an object of "path" and "weight". What has
/// no place is refused with a UsageError, after which it goes on with what comes behind that key or value: nothing
/// nests deeper. `where` is such as "run.json:4".
class PathListReader {
 public:
  explicit PathListReader(const FieldRef& field) : field_(field) {}

  void value(const JsonScalar& value, const std::string& where);
  void begin_object(const std::string& where);
  void key(const std::string& name, const std::string& where);
  void end_object(const std::string& where);
  /// Stores the list in the field.
  void end_array(const std::string& where);

 private:
  std::string entry_name() const;

  const FieldRef& field_;
  WeightedPaths paths_;
  bool in_object_ = false;
  bool has_unknown_key_ = false;  ///< of the object so far
  std::string key_;
  std::set<std::string> keys_;  ///< of the object so far
};

}  // namespace monomorph
