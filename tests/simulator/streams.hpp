#pragma once
#include "simulator/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

struct CUstream_st;

namespace monomorph::simulator {

class Capture;

/// Which of the orders that streams, events and the host's waits allow what the GPU was given runs in.
struct Schedule {
  enum class Order {
    late,           ///< when the host waits for it, and what it waits for before it
    early,          ///< as soon as it is given and what it waits for has run
    kernels_first,  ///< kernels early, and what is on other streams late
    copies_first,   ///< the other way round
    random          ///< some of what may run, whenever the host gives something or waits
  };
  Order order = Order::late;
  std::uint64_t seed = 0;
};

/// The end of what a stream was given at some time, which an event stands for.
struct Place {
  CUstream_st* stream = nullptr;
  std::uint64_t number = 0;  ///< how many operations lie before it
  Clock clock{};             ///< what has run where these have
};

/// Something that the GPU is to do.
struct Operation {
  std::string_view what;
  std::function<void()> run;
  CUstream_st* stream = nullptr;
  CUstream_st* other = nullptr;  ///< it runs when that stream has come to `place`
  std::uint64_t place = 0;
  std::function<bool()> ready{};  ///< if there is one, it runs when this holds, too: other ranks have sent their parts
  bool is_moment = false;         ///< an event that takes its time, and is no work
  Clock clock{};
};

}  // namespace monomorph::simulator

struct CUstream_st {
  std::shared_ptr<monomorph::simulator::Capture> capture{};  ///< if what it is given becomes a part of a graph
  std::size_t branch = 0;                                    ///< of that graph
  std::size_t slot = 0;                                      ///< its place in clocks
  bool is_closed = false;
  std::deque<monomorph::simulator::Operation> waiting{};
  std::atomic<std::uint64_t> n_done = 0;  ///< that other threads may look at
  monomorph::simulator::Clock clock{};    ///< of the last operation that it was given
  std::uint64_t n_given() const { return n_done + waiting.size(); }
  bool can_run() const {
    if (waiting.empty()) return false;
    const monomorph::simulator::Operation& next = waiting.front();
    return (next.other == nullptr || next.other->n_done >= next.place) && (!next.ready || next.ready());
  }
};

struct CUevent_st {
  bool takes_time = false;
  monomorph::simulator::Place place{};    ///< of no stream before it is recorded
  std::shared_ptr<std::uint64_t> time{};  ///< of one that takes times: the simulator's, when it has happened
  std::shared_ptr<monomorph::simulator::Capture> capture{};  ///< in which it was recorded last, if it was in one
  std::size_t mark = 0;                                      ///< there
};

namespace monomorph::simulator {

/// Streams, and the order in which what they were given runs. All of it runs within calls of the host.
class Streams {
 public:
  /// @param run is called for each operation that is due
  /// @param idle is called again and again while the host waits and nothing may run before another rank has done more
  Streams(std::function<void(const Operation&)> run, std::function<void(const CUstream_st&)> idle)
      : run_(std::move(run)), idle_(std::move(idle)) {}

  /// The first one is that of kernels.
  CUstream_st* open();
  void close(CUstream_st* stream) { stream->is_closed = true; }
  const Schedule& schedule() const { return schedule_; }
  void set_schedule(const Schedule& schedule);

  void give(CUstream_st* stream, std::string_view what, std::function<void()> run, std::function<bool()> ready = {});
  void give_moment(CUstream_st* stream, std::function<void()> note);
  Place end_of(CUstream_st* stream) const { return {stream, stream->n_given(), stream->clock}; }
  /// What the stream is given from now on runs when the other one has come to a place.
  void hold(CUstream_st* stream, const Place& place);
  /// The host goes on when a stream has come to a place.
  void wait_for(const Place& place);
  /// The host does not know of it.
  void run_all();

 private:
  void add(CUstream_st* stream, Operation operation);
  void run_next_of(CUstream_st* stream);
  void run_some();
  bool is_eager(const CUstream_st& stream) const;
  CUstream_st* random_ready();
  static CUstream_st* needed_by(CUstream_st* stream);

  std::function<void(const Operation&)> run_;
  std::function<void(const CUstream_st&)> idle_;
  std::vector<std::unique_ptr<CUstream_st>> streams_;
  Schedule schedule_;
  std::mt19937_64 random_;
  Clock host_{};  ///< what the host has waited for
};

}  // namespace monomorph::simulator
