#include "simulator/streams.hpp"

#include <stdexcept>

namespace monomorph::simulator {

CUstream_st* Streams::open() {
  // A clock has few places, so that a stream takes over that of a closed one.
  for (const auto& stream : streams_)
    if (stream->is_closed && stream->waiting.empty()) {
      stream->is_closed = false;
      return stream.get();
    }
  if (streams_.size() == Clock::most_streams) throw std::logic_error("the simulator has no more streams");
  streams_.push_back(std::make_unique<CUstream_st>());
  streams_.back()->slot = streams_.size() - 1;
  return streams_.back().get();
}

void Streams::set_schedule(const Schedule& schedule) {
  schedule_ = schedule;
  random_.seed(schedule.seed);
}

void Streams::give(CUstream_st* stream, std::string_view what, std::function<void()> run, std::function<bool()> ready) {
  add(stream, {.what = what, .run = std::move(run), .ready = std::move(ready)});
}

void Streams::give_moment(CUstream_st* stream, std::function<void()> note) {
  add(stream, {.what = "event", .run = std::move(note), .is_moment = true});
}

void Streams::hold(CUstream_st* stream, const Place& place) {
  stream->clock.join(place.clock);
  add(stream, {.what = "wait", .run = [] {}, .other = place.stream, .place = place.number});
}

void Streams::add(CUstream_st* stream, Operation operation) {
  stream->clock.join(host_);
  ++stream->clock.of_streams[stream->slot];
  operation.stream = stream;
  operation.clock = stream->clock;
  stream->waiting.push_back(std::move(operation));
  run_some();
}

void Streams::wait_for(const Place& place) {
  while (place.stream->n_done < place.number) {
    CUstream_st* const next = schedule_.order == Schedule::Order::random ? random_ready() : needed_by(place.stream);
    if (next == nullptr) {
      idle_(*place.stream);
      continue;
    }
    run_next_of(next);
    run_some();
  }
  host_.join(place.clock);
}

/// The stream that must run something before this one can; null if that waits for another rank.
CUstream_st* Streams::needed_by(CUstream_st* stream) {
  while (!stream->can_run()) {  // events are of the past, so this ends
    const Operation& next = stream->waiting.front();
    if (next.other == nullptr || next.other->n_done >= next.place) return nullptr;
    stream = next.other;
  }
  return stream;
}

void Streams::run_next_of(CUstream_st* stream) {
  const Operation operation = std::move(stream->waiting.front());
  stream->waiting.pop_front();
  ++stream->n_done;
  run_(operation);
}

void Streams::run_some() {
  if (schedule_.order == Schedule::Order::late) return;
  if (schedule_.order == Schedule::Order::random) {
    for (auto n = random_() % 4; n > 0; --n)
      if (CUstream_st* const stream = random_ready()) run_next_of(stream);
    return;
  }
  for (bool any = true; any;) {
    any = false;
    for (const auto& stream : streams_)
      while (is_eager(*stream) && stream->can_run()) run_next_of(stream.get()), any = true;
  }
}

bool Streams::is_eager(const CUstream_st& stream) const {
  const bool has_kernels = &stream == streams_.front().get();
  return schedule_.order == Schedule::Order::early ||
         has_kernels == (schedule_.order == Schedule::Order::kernels_first);
}

CUstream_st* Streams::random_ready() {
  std::vector<CUstream_st*> ready;
  for (const auto& stream : streams_)
    if (stream->can_run()) ready.push_back(stream.get());
  return ready.empty() ? nullptr : ready[random_() % ready.size()];
}

void Streams::run_all() {
  for (bool any = true; any;) {
    any = false;
    for (const auto& stream : streams_)
      while (stream->can_run()) run_next_of(stream.get()), any = true;
  }
}

}  // namespace monomorph::simulator
