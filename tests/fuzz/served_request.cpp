// Bodies of requests for completions and for chats: what is accepted keeps to the model's bounds, and what is refused
// is told in one line of JSON.
#include "train/serve/api_error.hpp"
#include "train/serve/completion_request.hpp"

#include <nlohmann/json.hpp>

#include "byte_tokenizer.hpp"
#include "memory_folder.hpp"

using namespace monomorph;

namespace {

constexpr std::int64_t context = 256;

data::ModelTemplate with_tools() {
  const std::string_view text =
      "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
      "{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}"
      "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const fuzz::MemoryFolder folder;
  folder.put("chat_template.jinja", text);
  return *data::ModelTemplate::of_folder(folder.path());
}

const train::ServedModel& model() {
  static const train::ServedModel model = [] {
    train::ServedModel model{"model",
                             fuzz::byte_tokenizer(),
                             {},
                             context,
                             train::ChatPrompt(fuzz::byte_tokenizer(), with_tools()),
                             std::make_shared<train::VocabularyOnDemand>()};
    model.settings.text_ends = model.settings.stop_ids = {*fuzz::byte_tokenizer().find("<|endoftext|>")};
    return model;
  }();
  return model;
}

template <class Read> void check(const Read& read, const std::string& body) {
  try {
    const train::CompletionRequest request = read(body, model());
    fuzz::require(!request.prompts.empty() && request.samples >= 1, "a request asks for a text");
    fuzz::require(static_cast<std::int64_t>(request.prompts.size()) * request.samples <=
                      train::CompletionRequest::most_texts,
                  "a request asks for no more texts than it may");
    for (const train::ServedPrompt& prompt : request.prompts) {
      fuzz::require(!prompt.ids.empty(), "a prompt has tokens");
      fuzz::require(static_cast<std::int64_t>(prompt.ids.size()) + request.settings.max_tokens <= context + 1,
                    "a text fits into the context");
      for (const std::int32_t id : prompt.ids)
        fuzz::require(id >= 0 && id < model().tokenizer.vocab_size(), "an id is in the vocabulary");
    }
  } catch (const train::ApiError& error) {
    fuzz::require(error.status() >= 400 && error.status() < 500, "what is wrong with a request is the client's");
    const auto told = nlohmann::json::parse(error.json(), nullptr, false);
    fuzz::require(!told.is_discarded(), "an error is told in JSON");
    fuzz::require(told.at("error").at("message").get<std::string>().find('\n') == std::string::npos,
                  "an error is one line");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(fuzz::as_text(data, size));
  check(train::read_completion, body);
  check(train::read_chat_completion, body);
  return 0;
}
