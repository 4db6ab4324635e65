#pragma once
#include "train/commands/chat_template_option.hpp"
#include "train/commands/generation_options.hpp"
#include "train/serve/http_server.hpp"

namespace monomorph::train {

struct ServeOptions : GenerationOptions {
  std::string host = "127.0.0.1", model_name, api_key_file;
  ChatTemplateOption chat_template;
  int port = 8000;
  std::int64_t batch = 8, most_waiting = 256, body_bytes = 1 << 20, request_seconds = 600, head_seconds = 10,
               body_seconds = 30, write_seconds = 10, stop_seconds = 10;
  std::optional<std::int64_t> cache_tokens;
  HttpLimits limits;
  bool quiet = false;
  void add_to(CLI::App& app);
};

/// Answers requests in the form of OpenAI's API over HTTP until a signal ends it.
/// @throws UsageError [SERVE-01], [SERVE-02], [SERVE-03], [CHAT-02], [RUN-25]; as load_text_model; Error [SERVE-04]
int run_serve(const RecipeProgram& recipe, const ServeOptions& options);

}  // namespace monomorph::train
