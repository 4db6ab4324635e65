#include "train/serve/api_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

const char* type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

}  // namespace

std::string ApiError::in_one_line(const std::string& message) {
  std::string line;
  for (const char character : message) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x20 || code == 0x7f)
      line += fmt::format("\\x{:02x}", code);
    else
      line += character;
  }
  return line;
}

std::string ApiError::json() const {
  const nlohmann::ordered_json error{{"message", what()},
                                     {"type", type_of(status_)},
                                     {"param", or_null(parameter_)},
                                     {"code", or_null(code_)}};
  return nlohmann::ordered_json{{"error", error}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace monomorph::train
