#include "core/json_text.hpp"
#include "data/records/expression_tree.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace monomorph::data::expression {
namespace {

constexpr int deepest_nesting = 200;
constexpr std::string_view white_space = " \t\r\n";
constexpr std::string_view ends_of_words = " \t\r\n()!=<>&|,\"";

/// One function for each level of the grammar, from `||`, which binds least, down to single values.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Tree parse() {
    tree_.root = either();
    skip_white_space();
    if (position_ != text_.size()) fail("expected && or || or the end");
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { fail_at(position_, reason); }

  [[noreturn]] void fail_at(std::size_t position, const std::string& reason) const {
    const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
    const auto before = text_.substr(0, position);
    throw UsageError("DATA-43", fmt::format("column {} of the expression {}: {}; write it like /language == \"en\" && "
                                            "length(/text) >= 100",
                                            std::count_if(before.begin(), before.end(), is_first_byte) + 1,
                                            in_quotes(text_), reason));
  }

  void skip_white_space() { position_ = std::min(text_.find_first_not_of(white_space, position_), text_.size()); }

  bool take(std::string_view symbol) {
    skip_white_space();
    if (!text_.substr(position_).starts_with(symbol)) return false;
    position_ += symbol.size();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!take(symbol)) fail(fmt::format("expected {}", symbol));
  }

  Node joined(Operation operation, std::string_view symbol, Node (Parser::*part)()) {
    Node first = (this->*part)();
    if (!take(symbol)) return first;
    Node node{operation, {}};
    node.children.push_back(std::move(first));
    do node.children.push_back((this->*part)());
    while (take(symbol));
    return node;
  }

  Node either() { return joined(Operation::either, "||", &Parser::both); }
  Node both() { return joined(Operation::both, "&&", &Parser::condition); }

  Node condition() {
    if (++depth_ > deepest_nesting) fail(fmt::format("nested more than {} deep", deepest_nesting));
    Node node = condition_inside();
    --depth_;
    return node;
  }

  Node condition_inside() {
    if (take("!")) return with_children(Operation::negation, condition());
    if (take("(")) {
      Node node = either();
      expect(")");
      return node;
    }
    if (take_function("exists")) {
      Node node = with_children(Operation::exists, field(false));
      expect(")");
      return node;
    }
    if (take_function("contains")) {
      Node whole = value();
      expect(",");
      Node node = with_children(Operation::contains, std::move(whole), value());
      expect(")");
      return node;
    }
    return comparison();
  }

  Node comparison() {
    skip_white_space();
    const std::size_t begin = position_;
    Node left = value();
    static constexpr std::pair<std::string_view, Operation> symbols[] = {{"==", Operation::equal},
                                                                         {"!=", Operation::unequal},
                                                                         {"<=", Operation::less_or_equal},
                                                                         {">=", Operation::greater_or_equal},
                                                                         {"<", Operation::less},
                                                                         {">", Operation::greater}};
    for (const auto& [symbol, operation] : symbols) {
      if (take(symbol)) return with_children(operation, std::move(left), value());
    }
    skip_white_space();
    if (text_.substr(position_).starts_with("=")) fail("= means nothing; equal is ==");
    const bool is_truth_value =
        left.operation == Operation::literal && std::holds_alternative<bool>(tree_.literals[left.index]);
    if (left.operation != Operation::field && !is_truth_value) fail_at(begin, "this is no condition by itself");
    return with_children(Operation::is_true, std::move(left));
  }

  Node value() {
    skip_white_space();
    if (position_ == text_.size()) fail("a value is missing");
    const char first = text_[position_];
    if (first == '/' || text_.substr(position_).starts_with("field")) return field(true);
    if (first == '"') return literal(quoted());
    if (take_function("length")) {
      if (++depth_ > deepest_nesting) fail(fmt::format("nested more than {} deep", deepest_nesting));
      Node node = with_children(Operation::length, value());
      --depth_;
      expect(")");
      return node;
    }
    return literal(word());
  }

  /// The name of a function and its opening parenthesis.
  bool take_function(std::string_view name) {
    const std::size_t begin = position_;
    if (take(name) && take("(")) return true;
    position_ = begin;
    return false;
  }

  Node field(bool compared) {
    skip_white_space();
    const std::size_t begin = position_;
    std::string pointer;
    if (take_function("field")) {
      skip_white_space();
      if (position_ == text_.size() || text_[position_] != '"') fail("expected a JSON Pointer in double quotes");
      const std::string_view name = quoted();
      pointer = json_of(name, begin).get<std::string>();
      expect(")");
    } else {
      pointer = std::string(word());
    }
    check_pointer(pointer, begin);
    const auto known = std::find_if(tree_.fields.begin(), tree_.fields.end(),
                                    [&](const Field& other) { return other.pointer == pointer; });
    if (known != tree_.fields.end()) {
      known->compared |= compared;
      return {Operation::field, {}, static_cast<std::size_t>(known - tree_.fields.begin())};
    }
    tree_.fields.push_back({std::move(pointer), compared});
    return {Operation::field, {}, tree_.fields.size() - 1};
  }

  void check_pointer(const std::string& pointer, std::size_t begin) const {
    try {
      const nlohmann::json::json_pointer checked(pointer);
    } catch (const nlohmann::json::exception&) {
      fail_at(begin, in_quotes(pointer) + " is no JSON Pointer such as /text or /meta/language");
    }
  }

  /// A text in double quotes, quotes included.
  std::string_view quoted() {
    const std::size_t begin = position_++;
    while (position_ < text_.size() && text_[position_] != '"') position_ += text_[position_] == '\\' ? 2 : 1;
    if (position_ >= text_.size()) fail_at(begin, "the text has no closing quote");
    return text_.substr(begin, ++position_ - begin);
  }

  std::string_view word() {
    const std::size_t begin = position_;
    position_ = std::min(text_.find_first_of(ends_of_words, begin), text_.size());
    return text_.substr(begin, position_ - begin);
  }

  nlohmann::json json_of(std::string_view text, std::size_t begin) const {
    nlohmann::json value = parsed_json(text);
    if (value.is_discarded()) {
      fail_at(begin, in_quotes(text) + " is no value; fields begin with a slash, texts stand in double quotes");
    }
    return value;
  }

  Node literal(std::string_view text) {
    const auto begin = static_cast<std::size_t>(text.data() - text_.data());
    const nlohmann::json value = json_of(text, begin);
    if (value.is_structured()) fail_at(begin, in_quotes(text) + " is no value that can be compared");
    tree_.literals.push_back(literal_of(value));
    return {Operation::literal, {}, tree_.literals.size() - 1};
  }

  static Literal literal_of(const nlohmann::json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    return nullptr;
  }

  template <class... Children> static Node with_children(Operation operation, Children&&... children) {
    Node node{operation, {}};
    (node.children.push_back(std::forward<Children>(children)), ...);
    return node;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
  Tree tree_;
};

}  // namespace

Tree parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace monomorph::data::expression
