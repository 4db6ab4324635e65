#include "train/inference/token_trie.hpp"

#include <algorithm>
#include <numeric>

namespace monomorph::train {

TokenTrie::TokenTrie(std::span<const std::string> texts) : next_same_(texts.size(), -1) {
  std::vector<std::int32_t> ids(texts.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto text_of = [&](std::int32_t id) -> const std::string& { return texts[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(ids, {}, text_of);
  std::vector<std::size_t> path;  // the nodes of the text before
  const auto close = [&](std::size_t kept) {
    for (std::size_t i = kept; i < path.size(); ++i) ends_[path[i]] = static_cast<std::uint32_t>(size());
    path.resize(kept);
  };
  for (const std::int32_t id : ids) {
    const std::string& text = text_of(id);
    if (text.empty()) continue;
    std::size_t common = 0;
    while (common < std::min(path.size(), text.size()) &&
           bytes_[path[common]] == static_cast<std::uint8_t>(text[common]))
      ++common;
    close(common);
    for (std::size_t i = common; i < text.size(); ++i) {
      path.push_back(size());
      bytes_.push_back(static_cast<std::uint8_t>(text[i]));
      depths_.push_back(static_cast<std::uint32_t>(i));
      ends_.push_back(0);
      tokens_.push_back(-1);
    }
    next_same_[static_cast<std::size_t>(id)] = tokens_[path.back()];
    tokens_[path.back()] = id;
  }
  close(0);
}

bool TokenTrie::spells_everything() const {
  std::vector<bool> spelt(256);
  for (std::size_t node = 0; node < size(); node = end(node)) spelt[byte(node)] = token(node) >= 0;
  for (int byte = 0x20; byte <= 0xF4; ++byte)
    if (!spelt[static_cast<std::size_t>(byte)] && byte != 0x7F && byte != 0xC0 && byte != 0xC1) return false;
  return true;
}

}  // namespace monomorph::train
