// Hyperparameters: what is accepted is written to a text that gives the same values.
#include <monomorph/train/hparams/hparams.hpp>

#include "harness.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int most_lines = 21;  // mistakes are told all at once, up to a number
  const auto read = [&] {
    const auto hparams = train::parse_hparams(std::string(fuzz::as_text(data, size)), "run.json");
    const std::string text = train::to_json(hparams);
    fuzz::require(train::to_json(train::parse_hparams(text, "run.json")) == text, "values read back as written");
    fuzz::refusing([&] { train::validate(hparams, 1); }, most_lines);
  };
  return fuzz::refusing(read, most_lines);
}
