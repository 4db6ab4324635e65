#include "data/records/json_kind.hpp"

#include <simdjson.h>

namespace monomorph::data {

const char* json_kind(const simdjson::dom::element& value) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::ARRAY:
      return "an array";
    case Type::OBJECT:
      return "an object";
    case Type::STRING:
      return "text";
    case Type::BOOL:
      return "true or false";
    case Type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace monomorph::data
