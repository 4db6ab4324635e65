#include "train/serve/tool_call_id.hpp"

#include <algorithm>
#include <random>
#include <string_view>

namespace monomorph::train {

std::string new_tool_call_id() {
  constexpr std::string_view characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::random_device device;
  std::uniform_int_distribution<std::size_t> any(0, characters.size() - 1);
  std::string id(9, ' ');
  std::ranges::generate(id, [&] { return characters[any(device)]; });
  return id;
}

}  // namespace monomorph::train
