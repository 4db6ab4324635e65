#include "train/commands/score_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/prompt_source.hpp"
#include "train/commands/text_model.hpp"
#include "train/inference/stop_ids.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/train/inference/scoring.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numbers>
#include <utility>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t texts_at_once = 64;
constexpr std::int64_t window_tokens_at_once = std::int64_t{4} << 20;

/// A text with what it begins behind.
struct TextToScore {
  std::string text;
  ordered_json id;
  std::vector<std::int32_t> ids;
  std::size_t n_before = 0;  ///< tokens that are not of the text
};

/// Where the tokens begin in the text, by bytes; nothing where the tokeniser changes the text. One that puts a space
/// before every text has a token that is a byte longer than what it stands for.
std::optional<std::vector<std::int64_t>> offsets_of(const TextToScore& text,
                                                    std::span<const std::int32_t> bytes_per_token) {
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;
  for (std::size_t i = text.n_before; i < text.ids.size(); ++i) {
    offsets.push_back(end);
    end += bytes_per_token[static_cast<std::size_t>(text.ids[i])];
  }
  const std::int64_t added = end - std::ssize(text.text);
  if (added < 0 || added > 1) return std::nullopt;
  for (std::int64_t& offset : offsets) offset = std::max<std::int64_t>(0, offset - added);
  return offsets;
}

/// Special tokens are spelled as they are in a text that has them.
std::vector<std::int32_t> spelled_lengths(const data::Tokenizer& tokenizer) {
  std::vector<std::int32_t> lengths = data::token_byte_lengths(tokenizer);
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.has_token(id) && tokenizer.is_special(id))
      lengths[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(tokenizer.token_of(id).size());
  return lengths;
}

class TextScores {
 public:
  TextScores(const data::Tokenizer& tokenizer, Session& session, std::int64_t stride, std::vector<std::int32_t> ends)
      : tokenizer_(tokenizer),
        session_(session),
        stride_(stride),
        bytes_per_token_(spelled_lengths(tokenizer)),
        ends_(std::move(ends)) {}

  /// A text begins behind what the tokeniser puts before each, or else where another one has ended.
  TextToScore prepared(PromptRecord record) {
    ++n_texts_;
    const auto before = tokenizer_.ids_before_text();
    TextToScore text{std::move(record.prompt), std::move(record.id), {before.begin(), before.end()}, 0};
    if (text.ids.empty() && !ends_.empty()) text.ids.push_back(ends_.front());
    text.n_before = text.ids.size();
    const std::vector<std::int32_t> ids = tokenizer_.encode(text.text);
    text.ids.insert(text.ids.end(), ids.begin(), ids.end());
    if (ids.empty())
      throw UsageError("SCORE-03", fmt::format("text {} is empty, and every text must have at least one token to be "
                                               "scored; take it out",
                                               n_texts_));
    return text;
  }

  void write(std::span<const TextToScore> texts) {
    const std::vector<std::vector<double>> scores = scores_of(texts);
    std::string lines;
    for (std::size_t i = 0; i < texts.size(); ++i) lines += line_of(texts[i], scores[i]) + "\n";
    show(lines);
  }

 private:
  /// Of all tokens of the texts but the first. Of a long text in short strides the windows together would take more
  /// memory than there is, so they are made and scored so many at a time.
  std::vector<std::vector<double>> scores_of(std::span<const TextToScore> texts) {
    std::vector<std::vector<double>> scores(texts.size());
    std::vector<TextGroup> windows;
    std::vector<std::size_t> texts_of_windows;
    std::int64_t n_tokens = 0;
    const auto score_windows = [&] {
      const std::vector<GroupScores> of_windows = score(session_, windows);
      for (std::size_t i = 0; i < windows.size(); ++i)
        std::ranges::copy(of_windows[i].front(), std::back_inserter(scores[texts_of_windows[i]]));
      windows.clear(), texts_of_windows.clear();
      n_tokens = 0;
    };
    for (std::size_t i = 0; i < texts.size(); ++i) {
      TextWindows of_text(texts[i].ids, session_.context_length(), stride_);
      while (auto window = of_text.next()) {
        n_tokens += std::ssize(window->ids);
        windows.push_back({std::move(*window)});
        texts_of_windows.push_back(i);
        if (n_tokens >= window_tokens_at_once) score_windows();
      }
    }
    score_windows();
    return scores;
  }

  std::string line_of(const TextToScore& text, std::span<const double> scores) {
    ordered_json line{{"index", index_++}};
    if (!text.id.is_null()) line["id"] = text.id;
    const auto offsets = offsets_of(text, bytes_per_token_);
    ordered_json tokens = ordered_json::array();
    double sum = 0;
    std::int64_t n_scored = 0, bytes = std::ssize(text.text);
    for (std::size_t i = text.n_before; i < text.ids.size(); ++i) {
      const std::int32_t id = text.ids[i];
      ordered_json token{{"token", tokenizer_.token_of(id)}, {"id", id}};
      token["offset"] = offsets ? ordered_json((*offsets)[i - text.n_before]) : ordered_json();
      token["log_probability"] = i > 0 ? ordered_json(scores[i - 1]) : ordered_json();
      tokens.push_back(std::move(token));
      if (i > 0)
        sum += scores[i - 1], ++n_scored;
      else
        bytes -= bytes_per_token_[static_cast<std::size_t>(id)];
    }
    line["log_probability"] = sum;
    line["scored_tokens"] = n_scored;
    line["bytes"] = bytes;
    line["perplexity"] = n_scored > 0 ? ordered_json(std::exp(-sum / static_cast<double>(n_scored))) : ordered_json();
    line["bits_per_byte"] =
        bytes > 0 ? ordered_json(-sum / (std::numbers::ln2 * static_cast<double>(bytes))) : ordered_json();
    line["tokens"] = std::move(tokens);
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  const data::Tokenizer& tokenizer_;
  Session& session_;
  std::int64_t stride_;
  std::vector<std::int32_t> bytes_per_token_, ends_;
  std::int64_t index_ = 0, n_texts_ = 0;
};

using NextText = std::function<std::optional<PromptRecord>()>;

/// One text, or those of a file.
NextText texts_of(const ScoreOptions& options) {
  if (!options.input.empty())
    return as_usage_error("--input", [&]() -> NextText {
      return [source = std::make_shared<PromptSource>(options.input, "text", ErrorId("SCORE-01"))] {
        return source->next();
      };
    });
  std::string text = options.text_file.empty()
                         ? options.text
                         : as_usage_error("--text-file", [&] { return read_text_file(options.text_file); });
  return [record = std::optional(PromptRecord{std::move(text), nullptr})]() mutable {
    return std::exchange(record, std::nullopt);
  };
}

void score_all(const NextText& next, TextScores& scores) {
  std::vector<TextToScore> texts;
  const auto write = [&] { scores.write(std::exchange(texts, {})); };
  try {
    while (auto record = next()) {
      texts.push_back(scores.prepared(std::move(*record)));
      if (texts.size() == texts_at_once) write();
    }
  } catch (const UsageError&) {  // of a text: those before it are scored
    write();
    throw;
  }
  write();
}

}  // namespace

void ScoreOptions::add_to(CLI::App& app) {
  CheckpointOptions::add_to(app);
  auto* const argument = app.add_option("--text", text, "text to score");
  auto* const file = app.add_option("--text-file", text_file, "file of it")->excludes(argument);
  app.add_option("--input", input, "file of JSON Lines, each with a \"text\"; - for standard input")
      ->excludes(argument)
      ->excludes(file);
  add_number(app, "--stride", stride,
             "tokens that a further window of a text longer than the context scores; half the context if not given",
             {1, std::int64_t{1} << 40});
}

int run_score(const RecipeProgram& recipe, const ScoreOptions& options) {
  check_predicts_next_token(recipe);
  const std::int64_t T = recipe.model->context_length,
                     stride = options.stride.value_or(std::max<std::int64_t>(1, T / 2));
  if (stride > T)
    throw UsageError("SCORE-02", fmt::format("--stride {} must be at most the context of {} tokens, or tokens between "
                                             "two windows would be left out; lower it",
                                             stride, T));
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  const Hparams hparams = checkpoint_hparams(checkpoint, recipe);
  const RunTokenizer loaded = options.required_tokenizer(checkpoint, hparams, recipe);
  const auto folder = std::filesystem::path(options.tokenizer_file(checkpoint, hparams)).parent_path();
  std::vector<std::int32_t> ends = as_usage_error("the tokeniser's folder", [&] {
    return stop_ids(*loaded.tokenizer, folder.empty() ? "." : folder.string());
  });
  const NextText next = texts_of(options);
  const LoadedModel model(recipe, checkpoint);
  with_session(model, request_for_scores(recipe), [&](Session& session) {
    TextScores scores(*loaded.tokenizer, session, stride, std::move(ends));
    write_note(loaded.note);
    score_all(next, scores);
  });
  return 0;
}

}  // namespace monomorph::train
