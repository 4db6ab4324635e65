#pragma once

namespace simdjson::dom {
class element;
}

namespace monomorph::data {

/// What a value is, as a message says it: "an array", "true or false".
const char* json_kind(const simdjson::dom::element& value);

}  // namespace monomorph::data
