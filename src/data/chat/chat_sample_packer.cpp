#include "data/chat/chat_sample_packer.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace monomorph::data {
namespace {

constexpr std::size_t window_tokens = std::size_t{1} << 23;  // 33 MB
constexpr std::size_t window_chats = std::size_t{1} << 18;   // whatever their length, each costs some memory

}  // namespace

ChatSamplePacker::ChatSamplePacker(std::int64_t sequence_length, Sink sink)
    : sequence_length_(static_cast<std::size_t>(sequence_length)), sink_(std::move(sink)) {}

void ChatSamplePacker::add(EncodedChat chat) {
  n_window_tokens_ += chat.ids.size();
  window_.push_back(std::move(chat));
  if (n_window_tokens_ >= window_tokens || window_.size() >= window_chats) flush();
}

void ChatSamplePacker::flush() {
  const auto length = [this](std::size_t chat) { return window_[chat].ids.size(); };
  std::vector<std::size_t> longest_first(window_.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) > length(b); });

  std::vector<std::vector<std::size_t>> samples;
  std::set<std::pair<std::size_t, std::size_t>> rooms;  // tokens that a sample still holds, and its number
  for (const std::size_t chat : longest_first) {
    const auto fullest = rooms.lower_bound({length(chat), 0});
    std::pair<std::size_t, std::size_t> room{sequence_length_, samples.size()};
    if (fullest == rooms.end()) {
      samples.emplace_back();
    } else {
      room = *fullest;
      rooms.erase(fullest);
    }
    samples[room.second].push_back(chat);
    if (room.first > length(chat)) rooms.insert({room.first - length(chat), room.second});
  }

  // Back to the order of the input, as the samples may be read in turn.
  for (std::vector<std::size_t>& sample : samples) std::sort(sample.begin(), sample.end());
  std::sort(samples.begin(), samples.end());
  std::vector<const EncodedChat*> chats;
  for (const std::vector<std::size_t>& sample : samples) {
    chats.clear();
    for (const std::size_t chat : sample) chats.push_back(&window_[chat]);
    sink_(chats);
  }
  window_.clear();
  n_window_tokens_ = 0;
}

}  // namespace monomorph::data
