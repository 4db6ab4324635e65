#include "train/inference/wanted_text.hpp"

#include <fmt/format.h>

namespace monomorph::train {
namespace {

class WantedGrammar {
 public:
  explicit WantedGrammar(const WantedText& wanted) : wanted_(wanted) {}

  ByteGrammar build() && {
    const std::int32_t start = builder_.node(), end = builder_.end_node();
    if (wanted_.calls != WantedText::Calls::none) add_calls(start, end);
    if (wanted_.document) {
      const std::int32_t rule =
          wanted_.document->schema ? rule_of(*wanted_.document->schema, SchemaGrammar::Root::any) : rules_.object();
      builder_.call(rules_.spaced(start), rule, end);
    }
    ByteGrammar grammar = std::move(builder_).build(start);
    for (const auto& [rule, place] : given_)
      if (grammar.node(rule).height >= ByteGrammar::most_depth - 1)
        throw SchemaError(SchemaError::Why::wrong, place,
                          fmt::format("leaves nothing to write: no value of less than {} levels is valid by it",
                                      ByteGrammar::most_depth));
    return grammar;
  }

 private:
  void add_calls(std::int32_t from, std::int32_t to) {
    for (const WantedText::Tool& tool : wanted_.tools) tools_.push_back({tool.name, arguments_of(tool)});
    CallGrammar calls(builder_, rules_, wanted_.form, tools_);
    if (wanted_.calls == WantedText::Calls::as_liked && !wanted_.document) return calls.add_text_with_calls(from, to);
    calls.add_calls(rules_.spaced(from), wanted_.calls != WantedText::Calls::one, to);
  }

  std::int32_t arguments_of(const WantedText::Tool& tool) {
    if (!tool.arguments) return rules_.object();
    try {
      return rule_of(*tool.arguments, SchemaGrammar::Root::object);
    } catch (const SchemaError& error) {
      if (tool.strict || error.why() == SchemaError::Why::wrong) throw;
      return rules_.object();
    }
  }

  std::int32_t rule_of(const GivenSchema& given, SchemaGrammar::Root root) {
    const std::int32_t rule = SchemaGrammar(builder_, rules_, given, root).rule();
    given_.emplace_back(rule, given.place);
    return rule;
  }

  const WantedText& wanted_;
  GrammarBuilder builder_;
  JsonRules rules_{builder_};
  std::vector<CallableTool> tools_;
  std::vector<std::pair<std::int32_t, std::string>> given_;
};

}  // namespace

ByteGrammar grammar_of(const WantedText& wanted) {
  try {
    return WantedGrammar(wanted).build();
  } catch (const GrammarTooLarge& error) {
    const std::string place = wanted.document && wanted.document->schema ? wanted.document->schema->place : "tools";
    throw SchemaError(SchemaError::Why::wrong, place, error.what());
  }
}

}  // namespace monomorph::train
