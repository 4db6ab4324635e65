#include "data/jinja/operators.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/jinja/template.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

using namespace monomorph;
using data::jinja::equal;
using data::jinja::RenderLimits;
using data::jinja::Template;
using data::jinja::Value;
using data::jinja::value_of_json;
using nlohmann::ordered_json;

namespace {

using Named = std::vector<std::pair<std::string, Value>>;

std::string jinja_fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/jinja/" + name;
}

const ordered_json& conversations() {
  static const ordered_json all = ordered_json::parse(read_text_file(jinja_fixture("conversations.json")));
  return all;
}

void add_members(const ordered_json& object, Named& variables) {
  for (const auto& [name, value] : object.items()) variables.emplace_back(name, value_of_json(value.dump(), name));
}

std::vector<ordered_json> lines_of_fixture(const std::string& name) {
  std::vector<ordered_json> all;
  std::istringstream lines(read_text_file(jinja_fixture(name)));
  for (std::string line; std::getline(lines, line);) all.push_back(ordered_json::parse(line));
  return all;
}

/// Noon of 9 March 2025, wherever it is rendered, as the fixtures' renderer has it.
std::time_t fixed_time() {
  std::tm parts{};
  parts.tm_year = 125;
  parts.tm_mon = 2;
  parts.tm_mday = 9;
  parts.tm_hour = 12;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

/// Checks one line of a fixture: the same text and marks, or an error in both.
void check_line(const ordered_json& line, const std::string& source, const std::string& name, const Named& variables) {
  INFO(line.dump().substr(0, 2000));
  data::jinja::Rendered rendered;
  const std::string error = error_of([&] { rendered = Template(source, name).render(variables, {}, fixed_time()); });
  if (line.contains("error")) {
    CHECK(error.starts_with("[JINJA-0"));
    return;
  }
  CHECK(error == "");
  CHECK(rendered.text == line["text"].get<std::string>());
  const auto generated = line.value("generated", std::vector<std::pair<std::size_t, std::size_t>>());
  CHECK(rendered.generated == generated);
}

std::string rendered(const std::string& source, const RenderLimits& limits = {}) {
  return Template(source, "t").render({}, limits).text;
}
std::string refusal(const std::string& source, const RenderLimits& limits = {}) {
  return error_of([&] { rendered(source, limits); });
}

}  // namespace

TEST_CASE("Small templates are rendered as Jinja renders them") {
  Named variables;
  add_members(conversations()["values"], variables);
  for (const char* const name : {"messages", "tools", "documents", "add_generation_prompt"})
    variables.emplace_back(name, Value());
  int n_rendered = 0, n_refused = 0;
  for (const ordered_json& line : lines_of_fixture("expressions.jsonl")) {
    check_line(line, line["source"].get<std::string>(), "small", variables);
    ++(line.contains("error") ? n_refused : n_rendered);
  }
  CHECK(n_rendered > 600);
  CHECK(n_refused > 150);
}

TEST_CASE("Published chat templates are rendered as transformers renders them") {
  std::map<std::string, std::string> sources;
  int n_rendered = 0;
  for (const ordered_json& line : lines_of_fixture("expected.jsonl")) {
    const auto name = line["template"].get<std::string>();
    if (!sources.contains(name)) sources[name] = read_text_file(jinja_fixture("templates/" + name));
    Named variables{{"tools", Value()}, {"documents", Value()}, {"add_generation_prompt", line["prompt"].get<bool>()}};
    add_members(conversations()["conversations"][line["conversation"].get<std::string>()], variables);
    add_members(conversations()["tokens"], variables);
    check_line(line, sources[name], name, variables);
    n_rendered += !line.contains("error");
  }
  CHECK(sources.size() >= 20);
  CHECK(n_rendered > 300);
}

TEST_CASE("A template that can't be read is refused with its name and line") {
  const auto refusal_of = [](const std::string& source) { return error_of([&] { Template(source, "chat.jinja"); }); };
  CHECK(refusal_of("a\n{% if x %}\n{{ x }") ==
        "[JINJA-01] \"chat.jinja\", line 3: an unexpected '}'; mend the template");
  CHECK(contains(refusal_of("{% if x %}"), "line 1: end of the template where {% endif %} must be"));
  CHECK(contains(refusal_of("{% include 'x' %}"), "joins templates"));
  CHECK(contains(refusal_of("\xff"), "[JINJA-01] \"chat.jinja\" is not UTF-8"));
  CHECK(contains(refusal_of(std::string(std::size_t{1} << 21, 'a')), "[JINJA-01]"));
  CHECK(contains(refusal_of("{{ " + std::string(100'000, '(') + std::string(100'000, ')') + " }}"), "too deep"));
  CHECK(contains(refusal_of("{{ " + std::string(100'000, '-') + "1 }}"), "too deep"));
  CHECK(contains(refusal_of("{{ a" + std::string(100'000, '.') + " }}"), "[JINJA-01]"));
  std::string sum = "{{ 1", blocks;
  for (int i = 0; i < 20'000; ++i) sum += "+1", blocks += "{% if 1 %}";
  CHECK(contains(refusal_of(sum + " }}"), "too deep"));
  CHECK(contains(refusal_of(blocks), "too deep"));
}

TEST_CASE("What goes wrong while a template is rendered is one line with its place") {
  CHECK(refusal("a\n{{ 1 + x }}") == "[JINJA-02] \"t\", line 2: 'x' is undefined");
  CHECK(refusal("{{ raise_exception('roles\nmust alternate') }}") ==
        "[JINJA-04] \"t\", line 1: the template refuses what it is given: roles must alternate");
  CHECK(contains(refusal("{{ {}.x.y }}"), "'dict' object has no attribute 'x'"));
  CHECK(contains(refusal("{{ [].append(1) }}"), "a template can't change a list"));
  CHECK(contains(refusal("{{ 9223372036854775807 + 1 }}"), "beyond 64 bits"));
  CHECK(contains(refusal("{{ 'x'|nothing }}"), "there is no filter nothing"));
}

TEST_CASE("A template that never ends, or that makes too much, ends in one line") {
  const RenderLimits few{.steps = 100'000, .bytes = 1'000'000};
  const char* const endless[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'x' * 999999999999 }}",
      "{{ [1] * 999999999 }}",
      "{{ 'x'.center(999999999) }}",
      "{{ '%999999999d' % 1 }}",
      "{{ 1|tojson(indent=999999999) }}",
      "{% set n = namespace(t='ab') %}{% for i in range(99) %}{% set n.t = n.t + n.t %}{% endfor %}",
      "{% set n = namespace(t=[1]) %}{% for i in range(99) %}{% set n.t = n.t + n.t %}{% endfor %}",
      "{% set n = namespace(t=[]) %}{% for i in range(9999) %}{% set n.t = [n.t] %}{% endfor %}",
      "{% set a = 'a' * 9999 %}{{ a|replace('a', a) }}",
      "{{ ('a' * 9999)|indent(999999999) }}"};
  for (const char* const source : endless) {
    const std::string error = refusal(source, few);
    INFO(source);
    CHECK((error.starts_with("[JINJA-03]") || error.starts_with("[JINJA-02]")));
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("Names are short, and looking for one among many, or closing over many scopes, counts") {
  CHECK(rendered("{% set " + std::string(256, 'a') + " = 1 %}1") == "1");
  CHECK(refusal("{{ " + std::string(257, 'a') + " }}").find("a name of more than 256 bytes") != std::string::npos);
  std::string many, named, parameters;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "v" + std::to_string(i);
    many += "{% set " + name + " = 1 %}";
    named += ", " + name + "=1";
    parameters += (i > 0 ? ", " : "") + name + "=0";
  }
  const RenderLimits few{.steps = 2'000'000};
  const std::string again = "{% for i in range(10000) %}", last = "{% endfor %}";
  CHECK(rendered(many + "{{ v4999 }}", few) == "1");
  for (const std::string& source :
       {many + again + "{{ unknown }}" + last,
        "{% set n = namespace(x=1" + named + ") %}" + again + "{{ n.v4999 }}" + last,
        "{% set n = namespace(x=1" + named + ") %}" + again + "{% set n.v4999 = 1 %}" + last,
        "{% macro m(" + parameters + ") %}{% endmacro %}{{ m(v0=1" + named.substr(named.find(", v1")) + ") }}"})
    CHECK(refusal(source, few).starts_with("[JINJA-03]"));
  const std::string macros = again + "{% for j in range(1000) %}{% macro a() %}{% endmacro %}" + last + last;
  CHECK(refusal(macros, RenderLimits{.bytes = 1 << 20}).find("bytes of texts and lists") != std::string::npos);
}

TEST_CASE("Numbers that are rounded, and places in ranges, stay within 64 bits or are refused") {
  CHECK(rendered("{{ 1234|round(-2) }}") == "1200");
  CHECK(refusal("{{ 9223372036854775807|round(-1) }}").starts_with("[JINJA-02]"));
  CHECK(refusal("{{ range(-9223372036854775807, -9223372036854775807)[::-1]|list }}{{ range(-9223372036854775807 - 1, "
                "-9223372036854775807 - 1)[::-1] }}")
            .starts_with("[JINJA-02]"));
  CHECK(rendered("{{ range(0, 10)[2:4]|list }}") == "[2, 3]");
}

TEST_CASE("Values that hold others twice, and these others, are compared in a bounded number of steps") {
  // Two lists, or tuples, of 2^40 numbers each, spelled out.
  const std::string made =
      "{% set ns = namespace(x=[0], y=[0], a=(0,), b=(0,)) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% set ns.a = (ns.a, ns.a) %}{% set ns.b = (ns.b, ns.b) %}{% endfor %}";
  const char* const compared[] = {"ns.x == ns.y",
                                  "ns.x != ns.y",
                                  "ns.x < ns.y",
                                  "ns.x in [ns.y]",
                                  "[ns.y].index(ns.x)",
                                  "[ns.y].count(ns.x)",
                                  "[ns.x, ns.y]|unique|list|length",
                                  "[ns.x, ns.y]|sort|length",
                                  "([ns.x, ns.y]|max)|length",
                                  "[{'k': ns.x}, {'k': ns.y}]|groupby('k')|length",
                                  "{1: ns.x} == {1: ns.y}",
                                  "{'k': ns.x}.items() == {'k': ns.y}.items()",
                                  "{ns.a: 1}|length",
                                  "{1: 2}.get(ns.a)",
                                  "dict([[ns.a, 1]])|length"};
  for (const char* const source : compared) {
    INFO(source);
    CHECK(refusal(made + "{{ " + source + " }}", RenderLimits{.steps = 100'000}).starts_with("[JINJA-03]"));
  }
  CHECK(rendered(made + "{{ {'k': ns.x}.items() is sameas {'k': ns.y}.items() }}") == "False");
  CHECK(rendered(made + "{{ {'k': ns.x}.values() == {'k': ns.y}.values() }}") == "False");
  CHECK(refusal(made + "{{ {{'k': ns.x}.items(): 1, {'k': ns.y}.items(): 2}|length }}") ==
        "[JINJA-02] \"t\", line 1: a dict_items can't be a key");
}

TEST_CASE("Keys that hold others twice, and these others, are hashed and compared within the number of steps") {
  // Two equal tuples of 2^14 numbers each, spelled out, which take so many steps to go through.
  constexpr std::int64_t steps_of_one = 3 << 14;
  const std::string made =
      "{% set ns = namespace(a=(0,), b=(0,)) %}{% for i in range(14) %}{% set ns.a = (ns.a, ns.a) %}"
      "{% set ns.b = (ns.b, ns.b) %}{% endfor %}";
  struct Case {
    const char* source;
    const char* text;
    std::int64_t n_hashed;
  };
  const Case cases[] = {{"{ns.a: 1}[ns.b]", "1", 1},
                        {"ns.b in {ns.a: 1}", "True", 1},
                        {"{ns.a: 1}.get(ns.b)", "1", 2},
                        {"{ns.a: 1, ns.b: 2}|length", "1", 2},
                        {"dict([[ns.a, 1], [ns.b, 2]])|length", "1", 2},
                        {"{ns.a: 1, 0: 0} == {0: 0, ns.b: 1}", "True", 2}};
  for (const auto& [source, text, n_hashed] : cases) {
    INFO(source);
    const std::string whole = made + "{{ " + source + " }}";
    const std::int64_t steps_to_hash = n_hashed * steps_of_one, half = steps_of_one / 2;
    CHECK(rendered(whole, RenderLimits{.steps = steps_to_hash + steps_of_one + half}) == text);
    CHECK(refusal(whole, RenderLimits{.steps = steps_to_hash + half}).starts_with("[JINJA-03]"));
  }
}

TEST_CASE("A dict with many keys that are large tuples is made within the number of steps") {
  const std::string made =
      "{% set ns = namespace(pairs=[], t=0) %}{% for i in range(50) %}{% set ns.t = (0,) %}{% for j in range(8) %}"
      "{% set ns.t = (ns.t, ns.t) %}{% endfor %}{% set ns.pairs = ns.pairs + [[(ns.t, i), 1]] %}{% endfor %}";
  const RenderLimits few{.steps = 200'000};
  CHECK(rendered(made + "{{ ns.pairs|length }}", few) == "50");
  CHECK(refusal(made + "{{ dict(ns.pairs)|length }}", few).starts_with("[JINJA-03]"));
  CHECK(rendered(made + "{{ dict(ns.pairs)|length }}") == "50");
}

TEST_CASE("Long keys, and keys among many, are looked up within the number of steps") {
  std::vector<std::pair<Value, Value>> items;
  for (int i = 0; i < 10'000; ++i) items.emplace_back(Value(std::to_string(i)), std::int64_t{1});
  const Named variables{{"many", Value::dict(std::move(items))}};
  const std::string made = "{% set t = 'a' * 40000 %}{% set u = t + 'b' %}{% set d = {t + 'c': 1} %}";
  const char* const sources[] = {
      "{% for i in range(300) %}{{ d[u] }}{% endfor %}", "{{ dict([[t, 1]] * 300)|length }}",
      "{{ ('%(7)s' * 1000) % many }}",
      "{% macro f() %}{{ kwargs|length }}{% endmacro %}{% for i in range(100) %}{{ f(**many) }}{% endfor %}"};
  for (const char* const source : sources) {
    INFO(source);
    const Template whole(made + source, "t");
    CHECK(error_of([&] { whole.render(variables, {.steps = 100'000}); }).starts_with("[JINJA-03]"));
    CHECK(error_of([&] { whole.render(variables); }).empty());
  }
}

TEST_CASE("Views of dicts are compared without copies, within the number of steps") {
  Named variables;
  for (const auto& [name, from, step] : {std::tuple("up", 0, 1), std::tuple("down", 9'999, -1)}) {
    std::vector<std::pair<Value, Value>> items;
    for (int i = 0; i < 10'000; ++i) items.emplace_back(Value(std::to_string(from + step * i)), std::int64_t{1});
    variables.emplace_back(name, Value::dict(std::move(items)));
  }
  const auto compared = [&](const std::string& source, const RenderLimits& limits) {
    return Template("{{ " + source + " }}", "t").render(variables, limits).text;
  };
  for (const std::string part : {"items()", "keys()"}) {
    const std::string source = "up." + part + " == down." + part;
    INFO(source);
    CHECK(compared(source, {.bytes = 10'000}) == "True");
    CHECK(error_of([&] { compared(source, {.steps = 15'000}); }).starts_with("[JINJA-03]"));
  }
}

TEST_CASE("Large dicts of JSON are compared in time that grows with them alone") {
  const auto dict = [](int from, int step) {
    std::string json = "{";
    for (int i = 0, key = from; i < 200'000; ++i, key += step)
      json += (i ? ", \"" : "\"") + std::to_string(key) + "\": " + std::to_string(key);
    return value_of_json(json + "}", "a dict");
  };
  const Value up = dict(0, 1), down = dict(199'999, -1), other = dict(1, 1);
  CHECK(equal(up, down));
  CHECK_FALSE(equal(up, other));
}

TEST_CASE("Values that hold each other end with the rendering") {
  CHECK(rendered("{% set n = namespace() %}{% set n.n = n %}{% macro f() %}{% endmacro %}{% set n.f = f %}ok") == "ok");
  CHECK(rendered(
            "{% set n = namespace(x=0) %}{% for i in range(50000) %}{% set n.x = namespace(x=n.x) %}{% endfor %}ok") ==
        "ok");
  CHECK(rendered("{% macro m(p) %}{% macro i() %}{{ p }}{% endmacro %}{% set ns.f = i %}{% endmacro %}ok") == "ok");
}

TEST_CASE("JSON that is no JSON, or too deep, makes no value") {
  CHECK(contains(error_of([] { value_of_json("{", "the tools"); }), "[JINJA-05] the tools is no JSON"));
  CHECK(contains(error_of([] { value_of_json(std::string(100'000, '['), "the tools"); }), "levels deep"));
}
