// adapter_config.json of peft: what is accepted says of adapters what the recipe does.
#include "train/weights/adapter_config.hpp"

#include "harness.hpp"
#include "memory_folder.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("adapter_config.json", fuzz::as_text(data, size));
  const std::string path = folder.path() + "/adapter_config.json";
  return fuzz::refusing([&] {
    const LowRankSpec spec{.rank = 8, .alpha = 16};
    const train::AdapterRanks forms[]{{{"c_attn", 8}, {"c_fc", 8}}, {{"c_attn", 24}, {"c_fc", 8}}};
    fuzz::require(train::check_adapter_config(path, spec, forms, "a_recipe").form < 2, "a form is one of those given");
    const LowRankSpec other{.rank = 4, .alpha = 16};
    const train::AdapterRanks other_forms[]{{{"c_attn", 4}, {"c_fc", 4}}, {{"c_attn", 12}, {"c_fc", 4}}};
    bool is_refused = false;
    try {
      train::check_adapter_config(path, other, other_forms, "another_recipe");
    } catch (const Error&) {
      is_refused = true;
    }
    fuzz::require(is_refused, "adapters are of one rank");
  });
}
