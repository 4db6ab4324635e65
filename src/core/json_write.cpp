#include "core/json_assign.hpp"
#include "core/json_text.hpp"
#include "core/overloaded.hpp"

#include <monomorph/core/hparams.hpp>

#include <fmt/format.h>

#include <functional>
#include <string>

namespace monomorph {
namespace {

/// One path that is drawn alone is written as a string, which reads back to the same.
std::string paths_json(const WeightedPaths& paths) {
  if (paths.empty()) return json_string("");
  if (paths.size() == 1 && paths[0].weight == 1) return json_string(paths[0].path);
  std::string list;
  for (const auto& [path, weight] : paths) {
    list += fmt::format(R"({}{{"path": {}, "weight": {}}})", list.empty() ? "" : ", ", json_string(path),
                        json_number(weight));
  }
  return "[" + list + "]";
}

/// One path without a name is written as a string, which reads back to the same.
std::string named_paths_json(const NamedPaths& paths) {
  if (paths.empty()) return json_string("");
  if (paths.size() == 1 && paths[0].name.empty()) return json_string(paths[0].path);
  std::string members;
  for (const auto& [name, path] : paths)
    members += fmt::format("{}{}: {}", members.empty() ? "" : ", ", json_string(name), json_string(path));
  return "{" + members + "}";
}

std::string value_json(const FieldRef& field) {
  return std::visit(Overloaded{[](const IntegerRef& target) { return std::to_string(*target.value); },
                               [](const CountRef& target) {
                                 return target.value->has_value() ? std::to_string(**target.value)
                                                                  : json_string(target.word);
                               },
                               [](const RealRef& target) { return json_number(*target.value); },
                               [](const bool* target) { return std::string(*target ? "true" : "false"); },
                               [](const std::string* target) { return json_string(*target); },
                               [](const WeightedPaths* target) { return paths_json(*target); },
                               [](const NamedPaths* target) { return named_paths_json(*target); },
                               [](const EnumRef& target) {
                                 return json_string(target.names[target.get(target.value)]);
                               }},
                    field.target);
}

std::string names_json(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + json_string(name);
  return "[" + list + "]";
}

std::string paths_schema() {
  return fmt::format(
      R"("anyOf": [{{"type": "string"}}, {{"type": "array", "minItems": 1, "items": {{"anyOf": [{{"type": "string"}}, )"
      R"({{"type": "object", "additionalProperties": false, "required": ["path"], "properties": )"
      R"({{"path": {{"type": "string"}}, "weight": {{"type": "number", "minimum": {}, "maximum": {}}}}}}}]}}}}])",
      json_number(least_weight), json_number(greatest_weight));
}

std::string named_paths_schema() {
  return R"("anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "additionalProperties": )"
         R"({"type": "string"}}])";
}

std::string type_schema(const FieldRef& field) {
  return std::visit(
      Overloaded{
          [](const IntegerRef& target) {
            return fmt::format(R"("type": "integer", "minimum": {}, "maximum": {})", target.min, target.max);
          },
          [](const CountRef& target) {
            return fmt::format(R"("anyOf": [{{"type": "integer", "minimum": {}, "maximum": {}}}, {{"const": {}}}])",
                               target.min, target.max, json_string(target.word));
          },
          [](const RealRef& target) {
            return fmt::format(R"("type": "number", "minimum": {}, "maximum": {})", json_number(target.min),
                               json_number(target.max));
          },
          [](const bool*) { return std::string(R"("type": "boolean")"); },
          [](const std::string*) { return std::string(R"("type": "string")"); },
          [](const WeightedPaths*) { return paths_schema(); }, [](const NamedPaths*) { return named_paths_schema(); },
          [](const EnumRef& target) { return fmt::format(R"("enum": {})", names_json(target.names)); }},
      field.target);
}

/// Writes fields as nested objects: consecutive fields of one section share a brace.
class SectionWriter {
 public:
  /// @param begin, end what stands around a section's members, such as "{" and "}"
  SectionWriter(std::string begin, std::string end) : begin_(std::move(begin)), end_(std::move(end)) {}

  std::string write(std::span<const FieldRef> fields, const std::function<std::string(const FieldRef&)>& value) {
    text_ = begin_;
    for (const FieldRef& field : fields) {
      const std::size_t dot = field.name.rfind('.') + 1;  // npos + 1 is 0: no section
      enter(field.name.substr(0, dot));
      begin_member(field.name.substr(dot));
      text_ += value(field);
    }
    enter("");
    return text_ + newline() + end_ + "\n";
  }

 private:
  void enter(const std::string& section) {
    while (!section.starts_with(section_)) {  // leave
      section_.pop_back();
      section_.resize(section_.rfind('.') + 1);
      text_ += newline() + end_;
      --depth_;
      is_first_ = false;
    }
    while (section_ != section) {
      const std::size_t dot = section.find('.', section_.size());
      begin_member(section.substr(section_.size(), dot - section_.size()));
      text_ += begin_;
      section_ = section.substr(0, dot + 1);
      ++depth_;
      is_first_ = true;
    }
  }
  void begin_member(const std::string& name) {
    if (!is_first_) text_ += ",";
    is_first_ = false;
    text_ += "\n" + std::string(2 * (depth_ + 1), ' ') + json_string(name) + ": ";
  }
  std::string newline() const { return "\n" + std::string(2 * depth_, ' '); }

  std::string begin_, end_, text_;
  std::string section_;  ///< with a dot at its end; empty at the top
  std::size_t depth_ = 0;
  bool is_first_ = true;
};

}  // namespace

std::string fields_to_json(std::span<const FieldRef> fields) {
  return SectionWriter("{", "}").write(fields, value_json);
}

std::string fields_to_schema(std::span<const FieldRef> fields, std::string_view title) {
  const std::string begin = R"({"type": "object", "additionalProperties": false, "properties": {)";
  std::string schema = SectionWriter(begin, "}}").write(fields, [](const FieldRef& field) {
    return fmt::format(R"({{{}, "default": {}, "description": {}}})", type_schema(field), value_json(field),
                       json_string(field.doc));
  });
  const std::string head =
      fmt::format(R"({{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": {}, )", json_string(title));
  return schema.replace(0, 1, head);
}

std::string fields_to_table(std::span<const FieldRef> fields) {
  std::string table = "| field | default | must be | meaning |\n|---|---|---|---|\n";
  for (const FieldRef& field : fields) {
    table += fmt::format("| `{}` | `{}` | {} | {} |\n", field.name, value_json(field), expectation(field), field.doc);
  }
  return table;
}

}  // namespace monomorph
