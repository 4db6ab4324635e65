#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Files that are looked for by their names in a folder that may come from a stranger, as folders of models do. What
/// such a folder holds is read, copied into runs and handed on in exports, so that a symbolic link in it must not lead
/// to what is not its own.
namespace monomorph {

/// The path of what a folder has by this name, or has not. A symbolic link is followed to what lies in the
/// folder, and, in a snapshot in the cache of Hugging Face's hub, which is made of links, to the blobs of the same
/// model. That the folder itself is reached by a link is no matter: whoever names it made the link, or trusts it.
/// @param name may have folders before it: "1_Pooling/config.json"
/// @throws UsageError [FILE-07] a symbolic link leads elsewhere, or nowhere; [FILE-04] it is a pipe or a device
std::string path_in(const std::string& folder, std::string_view name);

/// The names of regular files in a folder of that folder that have this ending, in order, with the folder before them:
/// "additional_chat_templates/rag.jinja". Hidden ones are left out.
/// @throws UsageError [FILE-07] as path_in, of each of them
std::vector<std::string> files_in(const std::string& folder, std::string_view subfolder, std::string_view ending);

/// Of a folder and those on the way to it the ones that are not there, the deepest first. One that can't be looked at
/// counts as not there, so that who creates it learns why.
std::vector<std::string> missing_folders(const std::string& path);

/// Makes a folder, and those on the way to it, where they are not there yet.   @throws [FILE-NN]
void create_folder(const std::string& path);

}  // namespace monomorph
