// The frequencies of rotary positions against those that transformers computes: tests/fixtures/rotary.
#include <monomorph/runtime/kernels/rotary_frequencies.hpp>
#include "support/catch.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace monomorph {
namespace {

struct Case {
  const char* name;
  std::int64_t head_dim, tokens;
  RotarySpec rotary;
};
const Case cases[] = {
    {"linear", 64, 4096, {.linear = {.factor = 2.5}}},
    {"dynamic_within", 64, 1000, {.dynamic = {.original_context = 4096, .factor = 2}}},
    {"dynamic_beyond", 64, 6000, {.dynamic = {.original_context = 4096, .factor = 2}}},
    {"dynamic_narrow", 4, 4096, {.base = 500, .dynamic = {.original_context = 4096}}},
    {"yarn", 128, 4096, {.base = 1'000'000, .yarn = {.factor = 4, .original_context = 4096}}},
    {"yarn_betas",
     64,
     4096,
     {.yarn = {.factor = 4, .original_context = 4096, .beta_fast = 16, .beta_slow = 2, .attention_factor = 0.75}}},
    {"yarn_not_truncated", 96, 4096, {.yarn = {.factor = 32, .original_context = 4096, .truncate = false}}},
    {"yarn_short", 16, 4096, {.yarn = {.factor = 4, .original_context = 4}}},
    {"llama3", 128, 4096, {.base = 500'000, .scaling = {.factor = 8}}}};

std::vector<float> floats_of(const runtime::SafetensorsFile& file, const std::string& name) {
  const runtime::TensorEntry& entry = file.at(name);
  REQUIRE(entry.dtype == runtime::FileDType::f32);
  std::vector<float> floats((entry.end - entry.begin) / sizeof(float));
  std::memcpy(floats.data(), file.data(entry), entry.end - entry.begin);
  return floats;
}

}  // namespace

TEST_CASE("rotary frequencies are those of transformers, whatever scales them", "[rotary]") {
  const auto expected =
      runtime::SafetensorsFile::open(MONOMORPH_SOURCE_DIR "/tests/fixtures/rotary/frequencies.safetensors");
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto [frequencies, attention_factor] = cpu::rotary_frequencies(c.rotary, c.head_dim / 2, c.tokens);
    const std::vector<float> theirs = floats_of(expected, c.name);
    REQUIRE(frequencies.size() == theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) CHECK(frequencies[i] == Approx(theirs[i]).epsilon(2e-6));
    CHECK(attention_factor == Approx(floats_of(expected, std::string(c.name) + ".attention_factor")[0]).epsilon(1e-6));
  }
}

}  // namespace monomorph
