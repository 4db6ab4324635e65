#include "train/inference/json_tree.hpp"

#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

using Kind = JsonTree::Kind;

/// Puts a tree together as the parser comes along. Containers that are open are moved into theirs when they end.
class TreeReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonTree take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({.kind = Kind::boolean, .flag = value}); }
  bool number_integer(number_integer_t value) override { return add_number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add_number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return add_number(text); }
  bool string(string_t& text) override { return add({.kind = Kind::string, .text = std::move(text)}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool key(string_t& name) override {
    open_.back().names.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  bool add_number(std::string text) { return add({.kind = Kind::number, .text = std::move(text)}); }
  bool add(JsonTree value) {
    (open_.empty() ? root_ : open_.back().items.emplace_back()) = std::move(value);
    return true;
  }
  bool open(Kind kind) {
    open_.push_back({.kind = kind});
    return open_.size() <= most_json_levels;
  }
  bool close() {
    JsonTree closed = std::move(open_.back());
    open_.pop_back();
    return add(std::move(closed));
  }

  JsonTree root_;
  std::vector<JsonTree> open_;
};

void append(const JsonTree& value, std::string& text) {
  switch (value.kind) {
    case Kind::null:
      text += "null";
      return;
    case Kind::boolean:
      text += value.flag ? "true" : "false";
      return;
    case Kind::number:
      text += value.text;
      return;
    case Kind::string:
      text += json_string(value.text);
      return;
    default:
      break;
  }
  const bool is_object = value.is(Kind::object);
  text += is_object ? '{' : '[';
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) text += ',';
    if (is_object) text += json_string(value.names[i]) + ':';
    append(value.items[i], text);
  }
  text += is_object ? '}' : ']';
}

}  // namespace

const JsonTree* JsonTree::find(std::string_view name) const {
  for (std::size_t i = names.size(); i-- > 0;)
    if (names[i] == name) return &items[i];
  return nullptr;
}

std::string JsonTree::dump() const {
  std::string written;
  append(*this, written);
  return written;
}

std::optional<JsonTree> json_tree_of(std::string_view text) {
  TreeReader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) return std::nullopt;
  return reader.take();
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace monomorph::train
