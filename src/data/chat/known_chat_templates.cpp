#include <monomorph/data/chat/chat_template.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace monomorph::data {
namespace {

/// In the style of published ones; special tokens are written out, so that no other file must name them.
constexpr std::string_view chatml_in_jinja = R"jinja({%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
)jinja";
constexpr std::string_view llama3_in_jinja = R"jinja({{- '<|begin_of_text|>' }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
)jinja";
constexpr std::string_view gemma_in_jinja = R"jinja({{- '<bos>' }}
{%- if messages and messages[0].role == 'system' %}
    {%- set system = messages[0].content + '\n\n' %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set system = '' %}
    {%- set turns = messages %}
{%- endif %}
{%- if not turns %}
    {{- raise_exception('there must be a message of the user') }}
{%- endif %}
{%- for message in turns %}
    {%- if message.role != ('user' if loop.index0 % 2 == 0 else 'assistant') %}
        {{- raise_exception('user and assistant must take turns, the user first') }}
    {%- endif %}
    {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\n' }}
    {{- (system if loop.first else '') + message.content | trim + '<end_of_turn>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<start_of_turn>model\n' }}
{%- endif %}
)jinja";
constexpr std::string_view mistral_in_jinja = R"jinja({{- '<s>' }}
{%- if messages and messages[0].role == 'system' %}
    {%- set system = messages[0].content + '\n\n' %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set system = '' %}
    {%- set turns = messages %}
{%- endif %}
{%- if not turns %}
    {{- raise_exception('there must be a message of the user') }}
{%- endif %}
{%- for message in turns %}
    {%- if message.role != ('user' if loop.index0 % 2 == 0 else 'assistant') %}
        {{- raise_exception('user and assistant must take turns, the user first') }}
    {%- endif %}
    {%- if message.role == 'user' %}
        {{- ' [INST] ' + (system if loop.first else '') + message.content + ' [/INST]' }}
    {%- else %}
        {{- ' ' + message.content + '</s>' }}
    {%- endif %}
{%- endfor %}
)jinja";
constexpr std::string_view zephyr_in_jinja = R"jinja({%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant'] %}
        {{- raise_exception('there is no role ' + message.role) }}
    {%- endif %}
    {{- '<|' + message.role + '|>\n' + message.content + '</s>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\n' }}
{%- endif %}
)jinja";

// Turns in the order of ChatRole: system, user, assistant, tool.
constexpr ChatTemplate templates[] = {
    {.name = "chatml",
     .special_tokens = {"<|im_start|>", "<|im_end|>"},
     .end_token = "<|im_end|>",
     .begin = "",
     .turns = {{{"<|im_start|>system\n", "<|im_end|>", "\n"},
                {"<|im_start|>user\n", "<|im_end|>", "\n"},
                {"<|im_start|>assistant\n", "<|im_end|>", "\n"},
                {"<|im_start|>tool\n", "<|im_end|>", "\n"}}},
     .jinja = chatml_in_jinja},
    {.name = "llama-3",
     .special_tokens = {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     .end_token = "<|eot_id|>",
     .begin = "<|begin_of_text|>",
     .turns = {{{"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>", ""},
                {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>", ""},
                {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>", ""},
                {"<|start_header_id|>tool<|end_header_id|>\n\n", "<|eot_id|>", ""}}},
     .trims_content = true,
     .jinja = llama3_in_jinja},
    {.name = "gemma",
     .special_tokens = {"<bos>", "<start_of_turn>", "<end_of_turn>"},
     .end_token = "<end_of_turn>",
     .begin = "<bos>",
     .turns = {{{},
                {"<start_of_turn>user\n", "<end_of_turn>", "\n"},
                {"<start_of_turn>model\n", "<end_of_turn>", "\n"},
                {}}},
     .trims_content = true,
     .alternates = true,
     .folds_system = true,
     .jinja = gemma_in_jinja},
    {.name = "mistral",
     .special_tokens = {"<s>", "</s>"},
     .end_token = "</s>",
     .begin = "<s>",
     .turns = {{{}, {" [INST] ", " [/INST]", ""}, {" ", "</s>", ""}, {}}},
     .alternates = true,
     .folds_system = true,
     .jinja = mistral_in_jinja},
    {.name = "zephyr",
     .special_tokens = {"</s>"},
     .end_token = "</s>",
     .begin = "",
     .turns = {{{"<|system|>\n", "</s>", "\n"}, {"<|user|>\n", "</s>", "\n"}, {"<|assistant|>\n", "</s>", "\n"}, {}}},
     .jinja = zephyr_in_jinja},
};

}  // namespace

std::span<const ChatTemplate> chat_templates() { return templates; }

const ChatTemplate* find_chat_template(std::string_view name) {
  const auto* const found = std::ranges::find(templates, name, &ChatTemplate::name);
  return found == std::end(templates) ? nullptr : found;
}

const ChatTemplate* find_chat_template_in_jinja(std::string_view source) {
  const auto* const found = std::ranges::find(templates, source, &ChatTemplate::jinja);
  return found == std::end(templates) ? nullptr : found;
}

const ChatTemplate* find_chat_template_of(std::uint64_t wanted) {
  const auto* const found =
      std::ranges::find(templates, wanted, [](const ChatTemplate& known) { return fingerprint(known); });
  return found == std::end(templates) ? nullptr : found;
}

std::string chat_template_names() {
  std::vector<std::string_view> names;
  for (const ChatTemplate& known : templates) names.push_back(known.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace monomorph::data
