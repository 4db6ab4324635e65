#pragma once
#include "data_test_support.hpp"

#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

inline std::string chat_fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/" + name;
}

/// A small byte-level tokenizer with the special tokens of all templates.
inline const monomorph::data::Tokenizer& chat_tokenizer() {
  using namespace monomorph::data;
  static const Tokenizer tokenizer(read_tokenizer_definition(chat_fixture("tokenizer.json")));
  return tokenizer;
}

/// One chat with what jinja2 and the `tokenizers` package make of it.
struct ExpectedChat {
  nlohmann::json json;
  std::vector<monomorph::data::ChatMessage> messages;
  const monomorph::data::ChatTemplate& chat_template() const {
    return *monomorph::data::find_chat_template(json["template"].get<std::string>());
  }
};

inline std::vector<ExpectedChat> expected_chats(const std::string& name) {
  std::vector<ExpectedChat> chats;
  std::istringstream lines(monomorph::read_text_file(chat_fixture(name)));
  for (std::string line; std::getline(lines, line);) {
    ExpectedChat chat{nlohmann::json::parse(line), {}};
    for (const auto& message : chat.json["messages"]) {
      const auto role = monomorph::data::find_chat_role(message["role"].get<std::string>());
      chat.messages.push_back({role.value(), message["content"].get<std::string>()});
    }
    chats.push_back(std::move(chat));
  }
  return chats;
}

/// The set of roles that "system,user" names.
inline monomorph::data::ChatRoles roles_named(const std::string& names) {
  monomorph::data::ChatRoles roles;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    roles.set(static_cast<std::size_t>(monomorph::data::find_chat_role(name).value()));
  }
  return roles;
}
