#pragma once
#include <monomorph/data/chat/chat_encoder.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace monomorph::data {

/// Puts chats together into samples of one length. Chats gather in a window of bounded size; the longest is placed
/// first, each into the fullest sample that has room (best fit decreasing). The result depends on the chats and their
/// order only. No chat is cut, and none reaches from one sample into another.
class ChatSamplePacker {
 public:
  /// Takes the chats of a sample, in the order in which they came; together they have `sequence_length` tokens or less.
  using Sink = std::function<void(const std::vector<const EncodedChat*>& chats)>;

  ChatSamplePacker(std::int64_t sequence_length, Sink sink);

  /// @param chat not empty, and no longer than a sample
  void add(EncodedChat chat);
  /// Empties the window. To be called after the last chat.
  void flush();

 private:
  std::size_t sequence_length_;
  Sink sink_;
  std::vector<EncodedChat> window_;
  std::size_t n_window_tokens_ = 0;
};

}  // namespace monomorph::data
