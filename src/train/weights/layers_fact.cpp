#include "train/weights/layers_fact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::train {
namespace {

using Texts = std::vector<std::string_view>;

constexpr std::string_view opening = "(<[{", closing = ")>]}", between_items = ", ", times = " x ";

/// Successive layers of one kind.
struct LayersRun {
  std::uint64_t count;
  std::string kind;
};

/// What lies between commas that are in no brackets, as those of template arguments are.
Texts items_of(std::string_view list) {
  Texts items;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += opening.find(list[i]) != std::string_view::npos ? 1 : 0;
    depth -= depth > 0 && closing.find(list[i]) != std::string_view::npos ? 1 : 0;
    if (depth > 0 || !list.substr(i).starts_with(between_items)) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + between_items.size();
  }
  items.push_back(list.substr(begin));
  return items;
}

/// Where the bracket opens that the last character closes; nothing if that closes none.
std::optional<std::size_t> opening_of_last(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += closing.find(text[i]) != std::string_view::npos ? 1 : 0;
    depth -= opening.find(text[i]) != std::string_view::npos ? 1 : 0;
    if (depth == 0) return closing.find(text.back()) != std::string_view::npos ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

bool begins_with_one_of(std::string_view phrase, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return phrase.starts_with(beginning); });
}

/// What remains of the phrases on one kind of layer (train/describe/block_features.hpp).
Texts lasting_phrases(const Texts& phrases) {
  constexpr std::array<std::string_view, 5> of_training{"rotary ", "balance loss ", "z-loss ", "dropless",
                                                        "capacity factor "};
  constexpr std::string_view bias_rate = "bias rate ";  // that there is one shapes the router
  Texts lasting;
  for (const std::string_view phrase : phrases) {
    const bool is_type_of_attention = phrase.find("::") != std::string_view::npos;
    if (is_type_of_attention || begins_with_one_of(phrase, of_training)) continue;
    lasting.push_back(phrase.starts_with(bias_rate) ? bias_rate.substr(0, bias_rate.size() - 1) : phrase);
  }
  return lasting;
}

std::string lasting_kind(std::string_view kind) {
  const std::optional<std::size_t> begin = kind.ends_with(')') ? opening_of_last(kind) : std::nullopt;
  if (!begin || *begin < 2 || kind[*begin - 1] != ' ') return std::string(kind);
  const std::string_view name = kind.substr(0, *begin - 1);
  const Texts phrases = lasting_phrases(items_of(kind.substr(*begin + 1, kind.size() - *begin - 2)));
  return phrases.empty() ? std::string(name) : fmt::format("{} ({})", name, fmt::join(phrases, between_items));
}

std::optional<LayersRun> run_of(std::string_view text) {
  LayersRun run{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), run.count);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || !rest.starts_with(times)) return std::nullopt;
  run.kind = lasting_kind(rest.substr(times.size()));
  return run;
}

}  // namespace

std::string lasting_layers(std::string_view layers) {
  std::vector<LayersRun> runs;
  for (const std::string_view item : items_of(layers)) {
    const std::optional<LayersRun> run = run_of(item);
    if (!run) return std::string(layers);
    if (!runs.empty() && runs.back().kind == run->kind)
      runs.back().count += run->count;
    else
      runs.push_back(*run);
  }
  std::vector<std::string> texts;
  for (const auto& [count, kind] : runs) texts.push_back(fmt::format("{}{}{}", count, times, kind));
  return fmt::format("{}", fmt::join(texts, between_items));
}

}  // namespace monomorph::train
