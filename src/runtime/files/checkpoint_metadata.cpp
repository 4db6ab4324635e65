#include "checkpoint_metadata.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace monomorph::runtime::checkpoint_metadata {
namespace {

using Json = nlohmann::ordered_json;

constexpr int newest_format_version = 3;
constexpr const char* checksum_key = "metadata_checksum";

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::uint64_t from_hexadecimal(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, 16);
  if (text.size() != 16 || result.ec != std::errc{} || result.ptr != end) {
    throw std::invalid_argument("a checksum has 16 hexadecimal digits");
  }
  return number;
}

std::uint64_t checksum_of(const Json& document) {
  const std::string text = document.dump();
  return xxh64(std::as_bytes(std::span{text.data(), text.size()}));
}

/// JSON has no infinities and no NaN, so these are texts.
Json to_json(const std::variant<std::int64_t, double>& counter) {
  if (const auto* const whole = std::get_if<std::int64_t>(&counter)) return *whole;
  const double number = std::get<double>(counter);
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

/// get() alone would take 2.5 for 2 and wrap around what is too large.
/// @param name to be said in the message
template <class Integer>
Integer whole_number(const Json& value, const std::string& name, Integer least = 0,
                     Integer most = std::numeric_limits<Integer>::max()) {
  const auto fits = [&](auto number) {
    return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most);
  };
  if (value.is_number_unsigned() && fits(value.get<std::uint64_t>())) return value.get<Integer>();
  if (value.is_number_integer() && !value.is_number_unsigned() && fits(value.get<std::int64_t>()))
    return value.get<Integer>();
  throw std::invalid_argument(
      fmt::format("{} must be a whole number from {} to {}, and is {}", name, least, most, in_quotes(value.dump())));
}

std::variant<std::int64_t, double> counter_from(const Json& value, const std::string& name) {
  if (value.is_number_float()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return whole_number<std::int64_t>(value, "counters." + name, std::numeric_limits<std::int64_t>::min());
}

/// The oldest version that can say it, so that programs that read no regions go on reading what has none.
int format_version_of(const CheckpointMetadata& metadata) { return metadata.has_regions ? 3 : 2; }

Json body_of(const CheckpointMetadata& metadata) {
  Json body{{"format_version", format_version_of(metadata)},
            {"step", metadata.step},
            {"tokens", metadata.n_tokens},
            {"sample_counter", metadata.sample_counter},
            {"ranks", metadata.n_ranks},
            {"recipe",
             {{"fingerprint", metadata.fingerprint},
              {"state_fingerprint", metadata.state_fingerprint},
              {"facts", metadata.recipe_facts},
              {"description", metadata.recipe_description}}},
            {"hyperparameters", Json::parse(metadata.hyperparameters)},
            {"counters", Json::object()},
            {"files", Json::array()}};
  for (const auto& [name, counter] : metadata.counters) body["counters"][name] = to_json(counter);
  for (const CheckpointFile& file : metadata.files) {
    Json checksums = Json::array();
    for (const std::uint64_t checksum : file.checksums) checksums.push_back(hexadecimal(checksum));
    body["files"].push_back({{"name", file.name},
                             {"bytes", file.n_bytes},
                             {"block_bytes", file.block_bytes},
                             {"xxh64", std::move(checksums)}});
  }
  return body;
}

/// In version 1 a file was one block.
CheckpointFile file_from(const Json& json, const std::string& name) {
  CheckpointFile file{name, whole_number<std::uint64_t>(json.at("bytes"), "bytes of " + name), 1, {}};
  const Json& checksums = json.at("xxh64");
  file.block_bytes = checksums.is_string()
                         ? std::max<std::uint64_t>(1, file.n_bytes)
                         : whole_number<std::uint64_t>(json.at("block_bytes"), "block_bytes of " + name, 1);
  for (const Json& checksum : checksums.is_string() ? Json::array({checksums}) : checksums)
    file.checksums.push_back(from_hexadecimal(checksum.get<std::string>()));
  if (file.checksums.size() != file.n_bytes / file.block_bytes + (file.n_bytes % file.block_bytes > 0 ? 1 : 0))
    throw std::invalid_argument("every block has a checksum");
  return file;
}

CheckpointMetadata metadata_from(const Json& body) {
  CheckpointMetadata metadata;
  metadata.has_regions = body.at("format_version").get<int>() >= 3;
  metadata.step = whole_number<std::int64_t>(body.at("step"), "step");
  metadata.n_tokens = whole_number<std::int64_t>(body.at("tokens"), "tokens");
  metadata.sample_counter = whole_number<std::int64_t>(body.at("sample_counter"), "sample_counter");
  metadata.n_ranks = whole_number<int>(body.at("ranks"), "ranks", 1);
  const Json& recipe = body.at("recipe");
  metadata.fingerprint = recipe.at("fingerprint").get<std::string>();
  metadata.state_fingerprint = recipe.value("state_fingerprint", "");
  metadata.recipe_facts = recipe.value("facts", metadata.recipe_facts);
  metadata.recipe_description = recipe.at("description").get<std::string>();
  metadata.hyperparameters = body.at("hyperparameters").dump();
  for (const auto& [name, value] : body.at("counters").items()) metadata.counters[name] = counter_from(value, name);
  for (const Json& file : body.at("files")) {
    // Names are derived, never taken from the file: nothing in it can point outside the folder.
    const std::string expected = rank_file_name(static_cast<int>(metadata.files.size()));
    if (file.at("name").get<std::string>() != expected) throw std::invalid_argument("a file is not named " + expected);
    metadata.files.push_back(file_from(file, expected));
  }
  if (metadata.files.empty() || static_cast<int>(metadata.files.size()) != metadata.n_ranks) {
    throw std::invalid_argument("every rank has one file");
  }
  return metadata;
}

/// Everything that is done with a document recurses into it, so a hostile one must not be deep. Nor may it have too
/// many keys, each of which is compared with those before it.
Json parse_shallow(const std::string& text) {
  constexpr int max_depth = 64, max_keys = 100'000;
  if (const auto nul = find_nul(text))
    throw std::invalid_argument(fmt::format("it has a NUL byte in line {}, column {}", nul->line, nul->column));
  return Json::parse(text, [n_keys = 0](int depth, Json::parse_event_t event, Json&) mutable {
    if (depth > max_depth) throw std::invalid_argument("it is nested more than 64 deep");
    if (event == Json::parse_event_t::key && ++n_keys > max_keys)
      throw std::invalid_argument("it has more than 100,000 keys");
    return true;
  });
}

/// Before anything else is looked at: what follows may mean something else in another version.
void check_version(const Json& document, const std::string& path) {
  const auto version = document.is_object() ? document.find("format_version") : document.end();
  if (version == document.end() || !version->is_number_unsigned() || version->get<std::uint64_t>() == 0) {
    throw_damaged(path, "it has no format_version");
  }
  if (version->get<std::uint64_t>() > newest_format_version) {
    throw Error("CHECKPOINT-02", fmt::format("{} has format version {}, and this program reads up to {}; use the newer "
                                             "program that wrote it",
                                             in_quotes(path), version->get<std::uint64_t>(), newest_format_version));
  }
}

}  // namespace

void throw_damaged(const std::string& path, const std::string& why) {
  throw Error("CHECKPOINT-03", fmt::format("{} is damaged ({}); use another checkpoint", in_quotes(path), why));
}

std::string rank_file_name(int rank) { return fmt::format("rank_{:05}.safetensors", rank); }

std::string to_json(const CheckpointMetadata& metadata) {
  if (metadata.step < 0 || metadata.n_tokens < 0 || metadata.sample_counter < 0) {
    throw Error("CHECKPOINT-07", fmt::format("step {}, tokens {} and sample counter {} of a checkpoint must not be "
                                             "negative",
                                             metadata.step, metadata.n_tokens, metadata.sample_counter));
  }
  try {
    Json document = body_of(metadata);
    document[checksum_key] = hexadecimal(checksum_of(document));
    return document.dump(2) + "\n";
  } catch (const nlohmann::json::exception& failure) {
    throw Error("CHECKPOINT-07", "the metadata of a checkpoint must be UTF-8 text and its hyperparameters JSON: " +
                                     in_quotes(failure.what()));
  }
}

CheckpointMetadata from_json(const std::string& text, const std::string& path) {
  try {
    Json document = parse_shallow(text);
    check_version(document, path);
    const std::uint64_t expected = from_hexadecimal(document.at(checksum_key).get<std::string>());
    document.erase(checksum_key);
    if (checksum_of(document) != expected) throw_damaged(path, "its own checksum differs");
    return metadata_from(document);
  } catch (const nlohmann::json::exception& failure) {
    throw_damaged(path, in_quotes(failure.what()));
  } catch (const std::invalid_argument& failure) {
    throw_damaged(path, failure.what());
  }
}

}  // namespace monomorph::runtime::checkpoint_metadata
