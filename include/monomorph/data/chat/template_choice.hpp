#pragma once
#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/chat/model_template.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace monomorph::data {

/// What chats are written by: a template that is known here by its name, or a model's own. The same for all commands
/// that write chats. Copies share the template.
class TemplateChoice {
 public:
  /// By a name that is known here; else by the path of a file or of a model's folder, as ModelTemplate::of_file.
  /// @param variables of a model's own   @throws UsageError [CHAT-01] it is neither; [CHAT-21] it is known here, and
  /// has no variables; as ModelTemplate::of_file
  static TemplateChoice named(const std::string& name_or_path, const TemplateVariables& variables = {});
  /// That of a file or of a model's folder, which has one.   @throws as ModelTemplate::of_file; [CHAT-21]
  static TemplateChoice of_file(const std::string& path, const TemplateVariables& variables = {});
  /// Without a choice, for models that answer: the folder's own, else the first one known here whose special tokens the
  /// tokeniser has, if there is one.   @throws as ModelTemplate::of_folder; [CHAT-21]
  static std::optional<TemplateChoice> usual(const Tokenizer& tokenizer, const std::string& folder,
                                             const TemplateVariables& variables = {});

  TemplateChoice(const ChatTemplate& known) : known_(&known) {}  // implicit, as what is chosen from is one of the two
  /// What a run wrote of a known one into its folder is that one again, by which no token is made of what somebody
  /// says.
  TemplateChoice(ModelTemplate of_model);

  /// Null: it is a model's own.
  const ChatTemplate* known() const { return known_; }
  /// Null: it is known here.
  const ModelTemplate* of_model() const { return of_model_.get(); }
  /// Changes whenever what the template writes may.
  std::uint64_t fingerprint() const;
  /// The token that fills samples up. No token that counts sees it, so where a model's files name none, any will do.
  std::int32_t padding(const Tokenizer& tokenizer) const;

 private:
  const ChatTemplate* known_ = nullptr;
  std::shared_ptr<const ModelTemplate> of_model_;
};

}  // namespace monomorph::data
