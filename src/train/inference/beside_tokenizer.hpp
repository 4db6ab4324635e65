#pragma once
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace monomorph::train {

/// The JSON object of a file that came with a model's tokeniser.   @throws UsageError [RUN-29] it is none; [FILE-NN]
nlohmann::json object_beside_tokenizer(const std::string& path);

/// Says what is wrong with such a file.   @throws UsageError [RUN-29]
[[noreturn]] void refuse_beside_tokenizer(const std::string& path, const std::string& what);

}  // namespace monomorph::train
