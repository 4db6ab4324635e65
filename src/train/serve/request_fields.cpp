#include "train/serve/request_fields.hpp"

#include "core/json_text.hpp"
#include "train/serve/api_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::train {
namespace {

using nlohmann::json;

/// Schemas of tools and answers are the deepest part. Whoever goes through a body may do so by recursion.
constexpr int most_levels = 64;

json parsed(const std::string& body) {
  const auto check_depth = [](int depth, json::parse_event_t, json&) {
    if (depth > most_levels)
      throw ApiError(400, fmt::format("the request's JSON is nested more than {} levels deep", most_levels));
    return true;
  };
  json value = find_nul(body) ? json(json::value_t::discarded) : json::parse(body, check_depth, false);
  if (value.is_discarded()) throw ApiError(400, "the request's body is no JSON: " + json_mistake(body));
  return value;
}

}  // namespace

RequestFields::RequestFields(const std::string& body) : object_(parsed(body)) {
  if (!object_.is_object()) throw ApiError(400, "the request's body must be a JSON object");
}

RequestFields::RequestFields(const json& value, std::string path) : object_(value), path_(std::move(path)) {
  if (!object_.is_object()) throw ApiError(400, path_ + " must be an object", path_);
}

const json* RequestFields::find(const std::string& name) {
  read_.insert(name);
  const auto field = object_.find(name);
  return field == object_.end() || field->is_null() ? nullptr : &*field;
}

std::optional<bool> RequestFields::flag(const std::string& name) {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) throw ApiError(400, path_of(name) + " must be true or false", path_of(name));
  return value->get<bool>();
}

std::optional<std::int64_t> RequestFields::integer(const std::string& name, std::int64_t least, std::int64_t most) {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  // An unsigned number may be beyond 2^63.
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
    throw ApiError(400, fmt::format("{} must be a whole number from {} to {}", path_of(name), least, most),
                   path_of(name));
  return value->get<std::int64_t>();
}

std::optional<double> RequestFields::number(const std::string& name, double least, double most) {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most))
    throw ApiError(400, fmt::format("{} must be a number from {} to {}", path_of(name), least, most), path_of(name));
  return value->get<double>();
}

std::optional<std::string> RequestFields::text(const std::string& name) {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) throw ApiError(400, path_of(name) + " must be a string", path_of(name));
  return value->get<std::string>();
}

void RequestFields::refuse_unless(const std::string& name, const std::vector<json>& harmless) {
  const json* const value = find(name);
  if (value == nullptr || std::ranges::find(harmless, *value) != harmless.end()) return;
  throw ApiError(400, path_of(name) + " is not supported here; leave it out", path_of(name), "unsupported_parameter");
}

void RequestFields::finish() const {
  for (const auto& field : object_.items())
    if (!read_.contains(field.key()))
      throw ApiError(400, "unknown field " + path_of(field.key()), path_of(field.key()), "unknown_parameter");
}

}  // namespace monomorph::train
