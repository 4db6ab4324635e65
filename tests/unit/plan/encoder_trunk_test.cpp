// An encoder's trunk has all that the encoder says: a field that trunk() forgot would silently be DecoderSpec's
// default.
#include "support/catch.hpp"
#include "support/change_field.hpp"

#include <monomorph/core/spec_fields.hpp>
#include <monomorph/spec/encoder_spec.hpp>

#include <set>
#include <string>
#include <type_traits>

using namespace monomorph;

TEST_CASE("an encoder's trunk has every field of the encoder") {
  EncoderSpec encoder;
  testing::change(encoder);
  const DecoderSpec trunk = encoder.trunk();
  const DecoderSpec defaults;
  std::set<std::string> found;
  for_each_field(trunk, [&](const std::string& name, const auto& of_trunk) {
    for_each_field(encoder, [&](const std::string& its_name, const auto& of_encoder) {
      if constexpr (std::is_same_v<decltype(of_trunk), decltype(of_encoder)>) {
        if (its_name != name) return;
        found.insert(name);
        CAPTURE(name);
        CHECK(of_trunk == of_encoder);
      }
    });
  });
  for_each_field(defaults, [&](const std::string& name, const auto&) {
    CAPTURE(name);
    CHECK(found.contains(name) == (name != "tied_head"));  // an encoder's head is a unit of its own
  });
}
