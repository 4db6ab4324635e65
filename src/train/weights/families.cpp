#include "train/weights/family.hpp"
#include "train/weights/listed.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::array<const Family*, 12> all_families{&gpt2,   &llama,  &mistral, &qwen2,   &qwen3,       &mixtral,
                                                     &gemma2, &gemma3, &bert,    &roberta, &xlm_roberta, &camembert};

/// Keys that any config.json may have and that change nothing in what a decoder computes: where the file comes from,
/// how its weights are stored, how text is generated, what belongs to other tasks, and what other programs than
/// transformers have noted.
constexpr std::string_view ignored_by_all[] = {"_attn_implementation_autoset",
                                               "_flash_attn_2_enabled",
                                               "_name_or_path",
                                               "_num_labels",
                                               "architectures",
                                               "auto_map",
                                               "bos_token_id",
                                               "chunk_size_feed_forward",
                                               "dtype",
                                               "eos_token_id",
                                               "finetuning_task",
                                               "id2label",
                                               "initializer_range",
                                               "is_llama_config",
                                               "label2id",
                                               "max_sequence_length",
                                               "model_type",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_past",
                                               "pad_token_id",
                                               "problem_type",
                                               "return_dict",
                                               "sep_token_id",
                                               "task_specific_params",
                                               "tokenizer_class",
                                               "torch_dtype",
                                               "transformers.js_config",
                                               "transformers_version",
                                               "unk_token_id",
                                               "unsloth_fixed",
                                               "unsloth_version",
                                               "use_cache"};
/// Features that published files switch off, in families of which transformers reads no such key.
constexpr std::string_view must_be_off[] = {"gradient_checkpointing", "rope_interleaved", "use_mrope"};

bool is_ignored(const Family& family, std::string_view key, const json& value) {
  return std::ranges::count(ignored_by_all, key) > 0 || std::ranges::count(family.ignored, key) > 0 ||
         (std::ranges::count(must_be_off, key) > 0 && (value.is_null() || value == false));
}

/// Matrices that bitsandbytes keeps in four bits: their tensors say how.
bool is_of_four_bits(std::string_view key, const json& value) {
  const auto is = [&](const char* name, const json& expected) {
    const auto found = value.find(name);
    return found != value.end() && *found == expected;
  };
  return key == "quantization_config" && value.is_object() && is("quant_method", "bitsandbytes") &&
         is("load_in_4bit", true);
}

/// What a file says of a row.   @throws UsageError [WEIGHTS-03]
json value_of(const ConfigRow& row, const json& config, const std::string& where) {
  const auto found = config.find(row.key);
  if (found != config.end()) return *found;
  if (row.absent == nullptr)
    throw UsageError("WEIGHTS-03", fmt::format("{} has no {}; export the model again", in_quotes(where), row.key));
  return json::parse(row.absent);
}

/// What recipes can't express of the value, if anything.   @throws UsageError [WEIGHTS-03]
std::optional<std::string> take(const ConfigRow& row, const json& value, PortableModel& portable,
                                const std::string& where) {
  const auto refuse = [&] {
    throw UsageError("WEIGHTS-03", fmt::format("{} has {}, a value of another type than this key has; export the model "
                                               "again",
                                               in_quotes(where), entry_text(row.key, value)));
  };
  try {
    row.take(portable, value);
  } catch (const NotExpressible& beyond) {
    return entry_text(row.key, value) + (beyond.reason.empty() ? "" : fmt::format(" ({})", beyond.reason));
  } catch (const WrongType&) {
    refuse();
  } catch (const json::exception&) {
    refuse();
  }
  return std::nullopt;
}

/// Whether older keys that a file has beside this row say anything else than the row, of which a model was made.
bool contradicts_older(const Family& family, const ConfigRow& row, const json& config, const PortableModel& portable,
                       const std::string& where) {
  PortableModel again = portable;
  for (const ConfigRow& older : family.config)
    if (std::ranges::count(row.older, older.key) > 0 && config.contains(older.key) && !config[older.key].is_null())
      take(older, config[older.key], again, where);  // what recipes lack of it was found when its own turn came
  return facts_of(again) != facts_of(portable);
}

/// What would be read from the config.json that is written for a model: in what it differs, the family lacks something.
PortableModel expressed(const Family& family, PortableModel portable) {
  portable.unused_positions = family.base.unused_positions;
  PortableModel read = family.base;
  for (const ConfigRow& row : family.config) {
    const json value = row.value(portable);
    if (row.take == nullptr || value.is_null()) continue;
    try {
      row.take(read, value);
    } catch (const NotExpressible&) {  // then it differs
    }
  }
  read.embedding = portable.embedding;                        // lies in other files
  read.model.context_length = portable.model.context_length;  // with dynamic scaling of positions files have another
  return read;
}

std::vector<std::string> lacking(const Family& family, const PortableModel& portable) {
  return differences(facts_of(portable), "in the recipe", facts_of(expressed(family, portable)),
                     fmt::format("in {}", family.model_type));
}

void add_unmet(const Family& family, const PortableModel& portable, std::vector<std::string>& features) {
  for (const ConfigRow& row : family.config)
    if (std::string condition = row.unmet != nullptr ? row.unmet(portable) : ""; !condition.empty())
      features.push_back(std::move(condition));
}

/// @param asked as of family_for   @param writes_config whether transformers must take its config.json
const Family& first_family(const RecipeProgram& recipe, const Family* asked, bool writes_config) {
  const PortableModel portable = portable_model(recipe);
  const Family* nearest = nullptr;
  std::vector<std::string> least;
  for (const Family* family : all_families) {
    if (asked != nullptr && family != asked) continue;
    if (portable.has_masked_head && family->with_masked_head != nullptr) family = family->with_masked_head;
    std::vector<std::string> features = lacking(*family, portable);
    if (writes_config) add_unmet(*family, portable, features);
    if (features.empty()) return *family;
    if (nearest != nullptr && features.size() >= least.size()) continue;
    nearest = family;
    least = std::move(features);
  }
  const std::string can_not =
      asked != nullptr ? fmt::format("{} can't be a {}: ", recipe.name, asked->model_type)
                       : fmt::format(
                             "no family of Hugging Face's models that Monomorph knows can be {}; the nearest "
                             "is {}, but ",
                             recipe.name, nearest->model_type);
  throw UsageError("WEIGHTS-01", fmt::format("{}{}; change the recipe", can_not, listed(std::move(least))));
}

}  // namespace

std::span<const Family* const> families() { return all_families; }

const Family* find_family(std::string_view model_type) {
  const auto found = std::ranges::find(all_families, model_type, &Family::model_type);
  return found == all_families.end() ? nullptr : *found;
}

const Family& family_for(const RecipeProgram& recipe, const Family* asked) { return first_family(recipe, asked, true); }
const Family& family_computing(const RecipeProgram& recipe) { return first_family(recipe, nullptr, false); }

json config_of(const Family& family, const PortableModel& portable) {
  json config = json::object();
  for (const ConfigRow& row : family.config)
    if (row.older.empty()) config[std::string(row.key)] = row.value(portable);
  return config;
}

PortableModel model_from(const Family& family, const json& config, const std::string& where) {
  PortableModel portable = family.base;
  std::vector<std::string> beyond;
  for (const ConfigRow& row : family.config) {
    const json value = value_of(row, config, where);
    if (row.take == nullptr) continue;
    if (auto entry = take(row, value, portable, where))
      beyond.push_back(std::move(*entry));
    else if (!row.older.empty() && contradicts_older(family, row, config, portable, where))
      beyond.push_back(fmt::format("{} (beside it {} must say the same or be left out)", entry_text(row.key, value),
                                   fmt::join(row.older, " and ")));
  }
  for (const ConfigRow& row : family.config)
    if (const json value = value_of(row, config, where); row.take == nullptr && value != row.value(portable))
      beyond.push_back(entry_text(row.key, value));
  for (const auto& [key, value] : config.items())
    if (!is_ignored(family, key, value) && !is_of_four_bits(key, value) &&
        std::ranges::find(family.config, key, &ConfigRow::key) == family.config.end())
      beyond.push_back(entry_text(key, value));
  if (beyond.empty()) return portable;
  throw UsageError("WEIGHTS-04",
                   fmt::format("{} has what no recipe expresses: {}; a key that changes nothing in what the model "
                               "computes may be deleted there",
                               in_quotes(where), listed(std::move(beyond), ", ")));
}

}  // namespace monomorph::train
