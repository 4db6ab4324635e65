#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <string>

/// metadata.json as text; reading and writing of files is checkpoint_folder.cpp's.
namespace monomorph::runtime::checkpoint_metadata {

inline constexpr const char* file_name = "metadata.json";

/// "rank_00003.safetensors"
std::string rank_file_name(int rank);

/// @throws [CHECKPOINT-07] if a text is not UTF-8, the hyperparameters are not JSON or a number is negative
std::string to_json(const CheckpointMetadata& metadata);

/// Refuses what the writer refuses, too, as a correct checksum does not prove that the content is valid.
/// @param path named in errors only
/// @throws [CHECKPOINT-02], [CHECKPOINT-03]
CheckpointMetadata from_json(const std::string& text, const std::string& path);

/// @param path of metadata.json   @param why the requirement that is not met
/// @throws [CHECKPOINT-03]
[[noreturn]] void throw_damaged(const std::string& path, const std::string& why);

}  // namespace monomorph::runtime::checkpoint_metadata
