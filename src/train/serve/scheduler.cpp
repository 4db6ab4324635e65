#include "train/serve/scheduler.hpp"

#include "train/inference/logits.hpp"

#include <algorithm>
#include <exception>

namespace monomorph::train {
namespace {

constexpr std::chrono::milliseconds between_looks{100};

}  // namespace

bool Scheduler::submit(std::vector<ServedText> texts) {
  {
    const std::lock_guard lock(mutex_);
    unfinished_ -= static_cast<std::int64_t>(
        std::erase_if(waiting_, [](const ServedText& text) { return text.events->abandoned(); }));
    if (std::ssize(waiting_) + std::ssize(texts) > most_waiting_) return false;
    unfinished_ += std::ssize(texts);
    for (ServedText& text : texts) waiting_.push_back(std::move(text));
  }
  submitted_.notify_one();
  return true;
}

void Scheduler::run(const std::function<bool()>& ends) {
  while (!ends()) {
    begin_waiting();
    if (running_.empty()) {
      wait_for_work();
      continue;
    }
    grow();
    remove_done();
  }
}

void Scheduler::fail_all(const std::string& message) {
  for (Running& running : running_) {
    running.done = true;
    running.served.events->push({.text = running.served.index, .failure = message});
  }
  remove_done();
  const std::lock_guard lock(mutex_);
  for (const ServedText& text : waiting_) text.events->push({.text = text.index, .failure = message});
  unfinished_ -= std::ssize(waiting_);
  waiting_.clear();
}

/// Pages of the longest text that may come of it, less its last token, which is chosen and never read.
std::int64_t Scheduler::pages(const ServedText& text) const {
  return pages_of(std::ssize(text.request.prompt) + std::max<std::int64_t>(0, text.settings.max_tokens - 1));
}

void Scheduler::wait_for_work() {
  std::unique_lock lock(mutex_);
  submitted_.wait_for(lock, between_looks, [&] { return !waiting_.empty(); });
}

/// As many as fit a pass are read together, and no more begin before the texts that run have their next token and
/// `ends` of run() has been asked: texts that end with their first token may come without end.
void Scheduler::begin_waiting() {
  PromptBatch prompts(session_);
  std::int64_t begun_tokens = 0;
  while (auto served = next_that_fits(begun_tokens)) {
    begun_tokens += std::ssize(served->request.prompt);
    begin(std::move(*served), prompts);
  }
  prompts.read();
  remove_done();
}

/// The first one that waits, as soon as there is a sequence and the pages for it. None overtakes it. A prompt that is
/// longer than a pass begins alone.
std::optional<ServedText> Scheduler::next_that_fits(std::int64_t begun_tokens) {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) {
    ServedText& first = waiting_.front();
    const bool wanted = !first.events->abandoned(),
               fits_pass =
                   begun_tokens == 0 || begun_tokens + std::ssize(first.request.prompt) <= session_.sizes().tokens,
               has_place = std::ssize(running_) < session_.most_sequences() &&
                           promised_pages_ + pages(first) <= session_.pages();
    if (wanted && (!fits_pass || !has_place)) return std::nullopt;
    ServedText served = std::move(first);
    waiting_.pop_front();
    if (wanted) return served;
    --unfinished_;
  }
  return std::nullopt;
}

void Scheduler::begin(ServedText served, PromptBatch& prompts) {
  const std::int64_t n = pages(served);
  promised_pages_ += n;
  running_.push_back({std::move(served), n, nullptr});
  Running& running = running_.back();
  if (running.served.settings.max_tokens == 0 && !running.served.scores_prompt) return end_unwritten(running);
  guarded(running, [&] {
    running.text =
        std::make_unique<TextGeneration>(session_, tokenizer_, running.served.settings, running.served.request);
    if (running.served.scores_prompt) score_prompt(running);
  });
  if (running.done || running.served.scores_prompt) return;
  prompts.add(running.text->sequence(), running.text->begin_again(),
              [&running, this](Logits logits) { guarded(running, [&] { take(running, logits); }); });
}

/// Of a prompt that is given back as it is, which needs no pass.
void Scheduler::end_unwritten(Running& running) {
  running.done = true;
  running.served.events->push({.text = running.served.index, .finish = FinishReason::length});
}

void Scheduler::score_prompt(Running& running) {
  const std::span<const std::int32_t> prompt = running.served.request.prompt;
  TextEvent event{.text = running.served.index, .scored = {{prompt.front(), {}}}};
  const Logits last = running.text->read_prompt([&](Logits logits) {
    if (event.scored.size() == prompt.size()) return;
    check_finite(logits);
    const std::int32_t id = prompt[event.scored.size()];
    event.scored.push_back({id, scores_of(running.served, id, logits)});
  });
  running.done = running.served.settings.max_tokens == 0;
  if (running.done) event.finish = FinishReason::length;
  running.served.events->push(std::move(event));
  if (!running.done) take(running, last);
}

std::vector<Candidate> Scheduler::scores_of(const ServedText& text, std::int32_t id, Logits logits) const {
  return log_probabilities(logits, tokenizer_.vocab_size(), id, text.log_probabilities.value_or(0));
}

void Scheduler::grow() {
  std::vector<Running*> together;
  std::vector<int> sequences;
  std::vector<std::int32_t> ids;
  for (Running& running : running_) {
    if (running.served.events->abandoned()) {
      running.done = true;
      continue;
    }
    together.push_back(&running);
    sequences.push_back(running.text->sequence());
    ids.push_back(running.text->last_id());
  }
  if (together.empty()) return;
  const std::span<const Logits> logits = session_.decode(sequences, ids);
  std::vector<TextGeneration*> texts;
  for (const Running* running : together) texts.push_back(running->text.get());
  choose_all(texts, logits);
  for (std::size_t i = 0; i < together.size(); ++i) guarded(*together[i], [&] { accept(*together[i], logits[i]); });
}

void Scheduler::take(Running& running, Logits logits) {
  running.text->choose(logits);
  accept(running, logits);
}

void Scheduler::accept(Running& running, Logits logits) {
  const ServedText& served = running.served;
  TextEvent event{.text = served.index, .drawn = 1};
  event.more = running.text->accept();
  if (served.log_probabilities) {
    const std::int32_t id = running.text->drawn();
    event.scored.push_back({id, scores_of(served, id, logits)});
  }
  running.done = running.text->finished();
  if (running.done) event.finish = std::move(*running.text).result().finish_reason;
  served.events->push(std::move(event));
}

/// What goes wrong with one text ends that text alone.
template <class Work> void Scheduler::guarded(Running& running, const Work& work) {
  try {
    work();
  } catch (const std::exception& failure) {
    running.done = true;
    running.served.events->push({.text = running.served.index, .failure = failure.what()});
  }
}

void Scheduler::remove_done() {
  const std::size_t n = std::erase_if(running_, [&](const Running& running) {
    if (running.done) promised_pages_ -= running.pages;
    return running.done;
  });
  unfinished_ -= static_cast<std::int64_t>(n);
}

}  // namespace monomorph::train
