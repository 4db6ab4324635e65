#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// Takes fields out of a tokenizer.json; every error names the file and the field.
class JsonFields {
 public:
  using Json = nlohmann::json;

  explicit JsonFields(const std::string& path) : path_(path) {}
  const std::string& path() const { return path_; }

  /// @throws [TOK-01]
  void expect(bool holds, std::string_view field, std::string_view wanted) const;
  [[noreturn]] void throw_unsupported(const std::string& feature) const;  ///< @throws [TOK-02]
  [[noreturn]] void throw_contradiction(const std::string& what) const;   ///< @throws [TOK-03]
  void refuse_unless(bool supported, const std::string& feature) const {
    if (!supported) throw_unsupported(feature);
  }

  static bool lacks(const Json& object, const char* name) {
    return !object.contains(name) || object.at(name).is_null();
  }
  const Json& member(const Json& object, const char* name) const;
  const Json& object(const Json& parent, const char* name) const;
  const Json& array(const Json& parent, const char* name) const;
  bool flag(const Json& object, const char* name, std::optional<bool> otherwise = {}) const;
  std::string text(const Json& object, const char* name, std::optional<std::string> otherwise = {}) const;
  std::string character(const Json& object, const char* name) const;
  std::size_t count(const Json& object, const char* name, std::optional<std::size_t> otherwise = {}) const;
  std::int32_t id(const Json& value, const std::string& token) const;

  /// The type of a part, which is not null.
  std::string type(const Json& part, const std::string& what) const;

 private:
  const std::string& path_;
};

/// An id beyond this is refused: it must not make us reserve memory for all below it.
inline constexpr std::int64_t most_ids = std::int64_t{1} << 24;

}  // namespace monomorph::data
