#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unordered_map>

namespace monomorph::data {
namespace {

using nlohmann::json;

constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;
constexpr std::int64_t most_ids = std::int64_t{1} << 24;  // a wild id must not make us reserve memory for all below it

/// Reads the parts of one tokenizer.json; every error names the file and the field.
class DefinitionReader {
 public:
  explicit DefinitionReader(const std::string& path) : path_(path) {}

  TokenizerDefinition read() {
    const json root = parse();
    expect(root.is_object(), "the file", "an object");
    refuse_unless(is_null_or_absent(root, "normalizer"), "normalizer " + type_name(root, "normalizer"));
    refuse_unless(is_null_or_absent(root, "truncation"), "truncation");
    refuse_unless(is_null_or_absent(root, "padding"), "padding");
    check_byte_level(root, "pre_tokenizer", false);
    check_byte_level(root, "decoder", false);
    check_byte_level(root, "post_processor", true);
    check_pre_tokenizer(root.at("pre_tokenizer"));
    read_model(member(root, "model"));
    if (!is_null_or_absent(root, "added_tokens")) read_added_tokens(root.at("added_tokens"));
    return std::move(definition_);
  }

 private:
  json parse() const {
    const std::string text = read_text_file(path_, largest_file_bytes);
    try {
      return json::parse(text);
    } catch (const json::exception& failure) {
      throw UsageError(fmt::format("[TOK-01] {} is not JSON: {}", in_quotes(path_), failure.what()));
    }
  }

  void expect(bool holds, const std::string& field, std::string_view wanted) const {
    if (!holds) {
      throw UsageError(fmt::format("[TOK-01] {} is no tokenizer.json: {} must be {}", in_quotes(path_), field, wanted));
    }
  }

  void refuse_unless(bool supported, const std::string& feature) const {
    if (supported) return;
    throw UsageError(
        fmt::format("[TOK-02] {} asks for {}, which is not supported: a byte-level BPE with GPT-2's "
                    "pre-tokeniser is (train one with monomorph-data train-tokenizer)",
                    in_quotes(path_), feature));
  }

  static bool is_null_or_absent(const json& object, const char* name) {
    return !object.contains(name) || object.at(name).is_null();
  }

  static std::string type_name(const json& object, const char* name) {
    if (is_null_or_absent(object, name)) return "null";
    const json& value = object.at(name);
    const bool has_type = value.is_object() && value.contains("type") && value.at("type").is_string();
    return has_type ? in_quotes(value.at("type").get<std::string>()) : "of an unknown kind";
  }

  const json& member(const json& object, const char* name) const {
    expect(object.contains(name), fmt::format("\"{}\"", name), "there");
    return object.at(name);
  }

  bool flag(const json& object, const char* name, bool otherwise) const {
    if (is_null_or_absent(object, name)) return otherwise;
    expect(object.at(name).is_boolean(), fmt::format("\"{}\"", name), "true or false");
    return object.at(name).get<bool>();
  }

  void check_byte_level(const json& root, const char* name, bool may_lack) const {
    if (may_lack && is_null_or_absent(root, name)) return;
    refuse_unless(type_name(root, name) == "\"ByteLevel\"", fmt::format("{} {}", name, type_name(root, name)));
  }

  void check_pre_tokenizer(const json& pre_tokenizer) const {
    refuse_unless(!flag(pre_tokenizer, "add_prefix_space", true), "pre_tokenizer add_prefix_space");
    refuse_unless(flag(pre_tokenizer, "use_regex", true), "pre_tokenizer use_regex: false");
  }

  void read_model(const json& model) {
    expect(model.is_object(), "\"model\"", "an object");
    const json type = model.contains("type") ? model.at("type") : json("BPE");
    refuse_unless(type == "BPE",
                  "model " + (type.is_string() ? in_quotes(type.get<std::string>()) : "of an unknown kind"));
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      refuse_unless(is_null_or_absent(model, name) || model.at(name) == "", fmt::format("model {}", name));
    }
    refuse_unless(is_null_or_absent(model, "dropout") || model.at("dropout") == 0, "model dropout");
    refuse_unless(!flag(model, "byte_fallback", false), "model byte_fallback");
    definition_.ignore_merges = flag(model, "ignore_merges", false);
    read_vocabulary(member(model, "vocab"));
    read_merges(member(model, "merges"));
  }

  std::int32_t read_id(const json& value, const std::string& token) const {
    const bool fits = value.is_number_integer() && value >= 0 && value < most_ids;
    expect(fits, fmt::format("the id of {}", in_quotes(token)), fmt::format("a number from 0 to {}", most_ids - 1));
    return value.get<std::int32_t>();
  }

  void set_token(std::int32_t id, const std::string& token) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= definition_.vocabulary.size()) definition_.vocabulary.resize(index + 1);
    std::string& place = definition_.vocabulary[index];
    if (!place.empty() && place != token) {
      throw UsageError(fmt::format("[TOK-03] the tokenizer {} contradicts itself: {} and {} have the same id {}",
                                   in_quotes(path_), in_quotes(place), in_quotes(token), id));
    }
    place = token;
  }

  void read_vocabulary(const json& vocabulary) {
    expect(vocabulary.is_object(), "\"vocab\"", "an object");
    for (const auto& [token, id] : vocabulary.items()) {
      if (!token.empty()) set_token(read_id(id, token), token);
      ids_.emplace(token, read_id(id, token));
    }
  }

  std::int32_t merge_part(const json& part) const {
    expect(part.is_string(), "each of \"merges\"", "two tokens, \"a b\" or [\"a\", \"b\"]");
    const auto& token = part.get_ref<const std::string&>();
    const auto found = ids_.find(token);
    if (found == ids_.end()) {
      throw UsageError(
          fmt::format("[TOK-03] the tokenizer {} contradicts itself: a merge names {}, which is not in the "
                      "vocabulary",
                      in_quotes(path_), in_quotes(token)));
    }
    return found->second;
  }

  void read_merges(const json& merges) {
    expect(merges.is_array(), "\"merges\"", "an array");
    for (const json& merge : merges) {
      if (merge.is_array() && merge.size() == 2) {
        definition_.merges.push_back({merge_part(merge[0]), merge_part(merge[1])});
        continue;
      }
      expect(merge.is_string(), "each of \"merges\"", "two tokens, \"a b\" or [\"a\", \"b\"]");
      const auto& text = merge.get_ref<const std::string&>();
      if (text.starts_with("#version")) continue;  // the first line of the older merges.txt, kept by some converters
      const std::size_t gap = text.find(' ');
      expect(gap != std::string::npos && text.find(' ', gap + 1) == std::string::npos, "each of \"merges\"",
             "two tokens, \"a b\" or [\"a\", \"b\"]");
      definition_.merges.push_back({merge_part(text.substr(0, gap)), merge_part(text.substr(gap + 1))});
    }
  }

  void read_added_tokens(const json& tokens) {
    expect(tokens.is_array(), "\"added_tokens\"", "an array");
    for (const json& token : tokens) {
      expect(token.is_object() && token.contains("content") && token.at("content").is_string() && token.contains("id"),
             "each of \"added_tokens\"", "an object with an id and a content");
      const std::string content = token.at("content").get<std::string>();
      expect(!content.empty(), "the content of each of \"added_tokens\"", "some text");
      for (const char* name : {"single_word", "lstrip", "rstrip"}) {
        refuse_unless(!flag(token, name, false), fmt::format("{} of the added token {}", name, in_quotes(content)));
      }
      const std::int32_t id = read_id(token.at("id"), content);
      set_token(id, content);
      definition_.added_tokens.push_back({content, id, flag(token, "special", false), flag(token, "normalized", true)});
    }
  }

  const std::string& path_;
  TokenizerDefinition definition_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

std::string added_token_json(const AddedToken& token) {
  return fmt::format(
      "{{\"id\": {}, \"content\": {}, \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
      "\"normalized\": {}, \"special\": {}}}",
      token.id, json(token.content).dump(), token.normalized, token.special);
}

}  // namespace

TokenizerDefinition read_tokenizer_definition(const std::string& path) { return DefinitionReader(path).read(); }

// Written by hand: one token a line, in the order of ids, which a JSON object of the library would lose.
std::string to_tokenizer_json(const TokenizerDefinition& definition) {
  std::string text = "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": [";
  for (std::size_t i = 0; i < definition.added_tokens.size(); ++i) {
    text += (i ? ",\n    " : "\n    ") + added_token_json(definition.added_tokens[i]);
  }
  constexpr std::string_view byte_level =
      "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": true}";
  text += fmt::format(
      "\n  ],\n  \"normalizer\": null,\n  \"pre_tokenizer\": {0},\n  \"post_processor\": null,\n"
      "  \"decoder\": {0},\n  \"model\": {{\n    \"type\": \"BPE\",\n    \"dropout\": null,\n"
      "    \"unk_token\": null,\n    \"continuing_subword_prefix\": null,\n"
      "    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n    \"byte_fallback\": false,\n"
      "    \"ignore_merges\": {1},\n    \"vocab\": {{",
      byte_level, definition.ignore_merges);
  const char* separator = "\n";
  for (std::size_t id = 0; id < definition.vocabulary.size(); ++id) {
    if (definition.vocabulary[id].empty()) continue;
    text += fmt::format("{}      {}: {}", separator, json(definition.vocabulary[id]).dump(), id);
    separator = ",\n";
  }
  text += "\n    },\n    \"merges\": [";
  separator = "\n";
  for (const TokenPair merge : definition.merges) {
    // A token in the byte-level alphabet holds no space, so the older form, which every version reads, is unambiguous.
    const std::string pair = definition.vocabulary[static_cast<std::size_t>(merge.left)] + " " +
                             definition.vocabulary[static_cast<std::size_t>(merge.right)];
    text += fmt::format("{}      {}", separator, json(pair).dump());
    separator = ",\n";
  }
  return text + "\n    ]\n  }\n}\n";
}

}  // namespace monomorph::data
