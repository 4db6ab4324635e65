#pragma once

namespace CLI {
class App;
}

/// One function for each command; each lives in the file of its name.
namespace monomorph::tools {

void add_train_tokenizer(CLI::App& program);
void add_index(CLI::App& program);
void add_pack(CLI::App& program);
void add_chat(CLI::App& program);
void add_pairs(CLI::App& program);
void add_preferences(CLI::App& program);
void add_merge(CLI::App& program);
void add_shuffle(CLI::App& program);
void add_chunk(CLI::App& program);
void add_filter(CLI::App& program);
void add_split(CLI::App& program);
void add_convert(CLI::App& program);
void add_inspect(CLI::App& program);
void add_verify(CLI::App& program);

}  // namespace monomorph::tools
