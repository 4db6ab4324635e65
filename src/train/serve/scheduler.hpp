#pragma once
#include "train/inference/prompt_batch.hpp"
#include "train/inference/text_generation.hpp"
#include "train/serve/served_text.hpp"

#include <functional>
#include <list>

namespace monomorph::train {

/// Which texts grow when. The thread that calls run() has the session to itself: it gives all running texts a token in
/// one pass, and between two passes begins some of those that wait, in their order, and closes those that nobody waits
/// for any more. However many wait, those that run get their next token. Other threads submit texts.
class Scheduler {
 public:
  /// @param most_waiting texts that have not begun
  Scheduler(Session& session, const data::Tokenizer& tokenizer, std::int64_t most_waiting)
      : session_(session), tokenizer_(tokenizer), most_waiting_(most_waiting) {}

  /// Queues all the texts of a request, each of which the session's cache can have: its prompt, and what is written but
  /// the last token.
  /// @return false, and nothing is queued, if too many wait already
  bool submit(std::vector<ServedText> texts);
  std::int64_t most_waiting() const { return most_waiting_; }
  /// Texts that run or wait.
  std::int64_t unfinished() const { return unfinished_; }

  /// Works until told otherwise, which is asked between two passes, and ten times a second where there is no work.
  void run(const std::function<bool()>& ends);
  /// Ends what runs and waits: each text fails with this message.
  void fail_all(const std::string& message);

 private:
  struct Running {
    ServedText served;
    std::int64_t pages;
    std::unique_ptr<TextGeneration> text;
    bool done = false;
  };

  std::int64_t pages(const ServedText& text) const;
  void wait_for_work();
  void begin_waiting();
  /// @param begun_tokens of the prompts that begin with it
  std::optional<ServedText> next_that_fits(std::int64_t begun_tokens);
  void begin(ServedText served, PromptBatch& prompts);
  void end_unwritten(Running& running);
  void score_prompt(Running& running);
  std::vector<Candidate> scores_of(const ServedText& text, std::int32_t id, Logits logits) const;
  void grow();
  void take(Running& running, Logits logits);
  /// Makes what was chosen of the logits the text's next token.
  void accept(Running& running, Logits logits);
  void remove_done();
  template <class Work> void guarded(Running& running, const Work& work);

  Session& session_;
  const data::Tokenizer& tokenizer_;
  std::int64_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::deque<ServedText> waiting_;
  std::list<Running> running_;  ///< a text refers to the settings beside it, which must not move
  std::int64_t promised_pages_ = 0;
  std::atomic<std::int64_t> unfinished_ = 0;
};

}  // namespace monomorph::train
