#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

namespace monomorph::data {
namespace {

using nlohmann::json;

/// ["[CLS]", 101]
std::int32_t read_token_and_id(const JsonFields& fields, const json& part, const char* name) {
  const json& pair = fields.array(part, name);
  fields.expect(pair.size() == 2 && pair[0].is_string(), std::string("\"") + name + "\"", "a token and its id");
  return fields.id(pair[1], pair[0].get<std::string>());
}

SpecialTokenFrame read_template(const JsonFields& fields, const json& part) {
  SpecialTokenFrame frame;
  std::size_t n_texts = 0;
  for (const json& piece : fields.array(part, "single")) {
    if (piece.contains("Sequence")) {
      fields.refuse_unless(fields.text(piece.at("Sequence"), "id") == "A", "a second sequence in a single template");
      ++n_texts;
      continue;
    }
    const std::string name = fields.text(fields.object(piece, "SpecialToken"), "id");
    const json& tokens = fields.object(part, "special_tokens");
    fields.expect(tokens.contains(name), "\"special_tokens\"", "an object with " + in_quotes(name));
    for (const json& id : fields.array(tokens.at(name), "ids")) {
      (n_texts == 0 ? frame.before : frame.after).push_back(fields.id(id, name));
    }
  }
  fields.refuse_unless(n_texts == 1, "a TemplateProcessing with the text in it " + std::to_string(n_texts) + " times");
  return frame;
}

SpecialTokenFrame read_frame_part(const JsonFields& fields, const json& part) {
  const std::string type = fields.type(part, "post_processor");
  if (type == "ByteLevel") return {};  // it changes offsets only
  if (type == "TemplateProcessing") return read_template(fields, part);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return {{read_token_and_id(fields, part, "cls")}, {read_token_and_id(fields, part, "sep")}};
  }
  fields.throw_unsupported("the post_processor " + in_quotes(type));
}

}  // namespace

SpecialTokenFrame read_frame(const JsonFields& fields, const json& root) {
  SpecialTokenFrame frame;
  for_each_part(fields, root, "post_processor", "processors", [&](const json& part) {
    SpecialTokenFrame one = read_frame_part(fields, part);
    if (one.before.empty() && one.after.empty()) return;
    fields.refuse_unless(frame.before.empty() && frame.after.empty(), "two post_processors that add tokens");
    frame = std::move(one);
  });
  return frame;
}

std::vector<AddedToken> read_added_tokens(const JsonFields& fields, const json& root) {
  std::vector<AddedToken> tokens;
  if (JsonFields::lacks(root, "added_tokens")) return tokens;
  for (const json& token : fields.array(root, "added_tokens")) {
    const std::string content = fields.text(token, "content");
    fields.expect(!content.empty(), "the content of each of \"added_tokens\"", "some text");
    const bool special = fields.flag(token, "special", false);
    tokens.push_back({.content = content,
                      .id = fields.id(fields.member(token, "id"), content),
                      .special = special,
                      .normalized = fields.flag(token, "normalized", !special),
                      .single_word = fields.flag(token, "single_word", false),
                      .lstrip = fields.flag(token, "lstrip", false),
                      .rstrip = fields.flag(token, "rstrip", false)});
  }
  return tokens;
}

}  // namespace monomorph::data
