#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// The fields of a request's JSON object. A field that is null counts as left out. Each read says what the field must
/// be; what nobody has read is refused by name.
class RequestFields {
 public:
  /// @throws ApiError 400: no JSON, not one object, or nested too deeply
  explicit RequestFields(const std::string& body);
  /// Of an object within a request.   @param path of it, as errors show it   @throws ApiError 400: no object
  RequestFields(const nlohmann::json& value, std::string path);

  /// Null if the field is left out.
  const nlohmann::json* find(const std::string& name);
  /// These throw ApiError 400 if the field is there and is something else.
  std::optional<bool> flag(const std::string& name);
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most);
  std::optional<double> number(const std::string& name, double least, double most);
  std::optional<std::string> text(const std::string& name);
  /// A field that is not supported, but for these values, which ask for nothing.
  void refuse_unless(const std::string& name, const std::vector<nlohmann::json>& harmless);
  /// @throws ApiError 400: a field that nobody has read
  void finish() const;

  /// The field as errors show it.
  std::string path_of(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

 private:
  nlohmann::json object_;
  std::string path_;
  std::set<std::string> read_;
};

}  // namespace monomorph::train
