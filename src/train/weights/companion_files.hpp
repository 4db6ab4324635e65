#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// Copies what belongs to a model beside its weights and its config.json, and means the same here and there: the files
/// of its tokeniser, its chat templates and how it generates. Those that `from` does not have are left out.
/// @throws [FILE-01] and following; as path_in
void copy_companion_files(const std::string& from, const std::string& to);

/// Looks at their links, so that what copying would refuse is known before anything else is written.
/// @throws as path_in
void check_companion_files(const std::string& from);

/// What a model's folder and a run call a tokeniser's file: of the tokenizers library, and a SentencePiece model.
inline constexpr std::string_view tokenizer_names[] = {"tokenizer.json", "tokenizer.model"};

/// The path of a folder's tokeniser, the first of these names that is there; empty if none is.   @throws as path_in
std::string tokenizer_in(const std::string& folder);

/// Whether a tokeniser's file has one of these names, beside which others are looked for.
bool has_companions(const std::string& tokenizer);

/// Those of them that lie beside a tokeniser's file, by name, without itself and a file that would be read in its
/// place, and the ids that config.json names or a run keeps (special_token_ids.hpp); none beside a file of another
/// name. A name may have a folder before it: "additional_chat_templates/tool_use.jinja".
/// @throws [FILE-01] and following; as path_in
std::vector<std::pair<std::string, std::string>> companions_of_tokenizer(const std::string& path);

/// Has transformers read a folder's tokenizer.json as it stands, if no other file says how: it would else take the
/// class of tokeniser that the family once had, which encodes otherwise.
/// @param padding the token that fills texts up, which sentence-transformers needs; none if empty
void name_tokenizer_class(const std::string& folder, const std::string& padding);

}  // namespace monomorph::train
