#include "train/run/data/packed_template.hpp"

#include "train/weights/companion_files.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/template_choice.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace monomorph::train {
namespace {

/// Null if sets were packed by different ones, or by a model's own.
const data::ChatTemplate* common_template(const data::Loader& train) {
  const data::ChatTemplate* common = nullptr;
  for (std::size_t i = 0; i < train.n_sets(); ++i) {
    const auto& mask = train.set(i).loss_mask();
    if (!mask) continue;
    const data::ChatTemplate* const known = data::find_chat_template_of(mask->header().format);
    if (known == nullptr || (common != nullptr && known != common)) return nullptr;
    common = known;
  }
  return common;
}

/// What the run takes from beside its tokeniser, if it takes a template from there.
/// @throws as ModelTemplate::of_folder
std::optional<data::TemplateChoice> template_beside(const std::string& tokenizer) {
  if (!has_companions(tokenizer)) return std::nullopt;
  auto own = data::ModelTemplate::of_folder(std::filesystem::path(tokenizer).parent_path().string());
  if (!own) return std::nullopt;
  return *std::move(own);
}

}  // namespace

PackedTemplate packed_template(const data::Loader& train, const std::string& tokenizer) {
  const data::ChatTemplate* const common = common_template(train);
  if (common == nullptr) return {};
  try {
    const auto own = template_beside(tokenizer);
    if (!own) return {.jinja = std::string(common->jinja), .note = ""};
    if (own->known() == common) return {};
  } catch (const Error&) {
    // A template that can't be read is another one all the same; whoever writes chats by it says what is wrong.
  }
  return {.jinja = "",
          .note = fmt::format("the data was packed by the template {}, and beside {} lies another, by which chats with "
                              "the model are written unless --template says {}",
                              common->name, in_quotes(tokenizer), common->name)};
}

}  // namespace monomorph::train
