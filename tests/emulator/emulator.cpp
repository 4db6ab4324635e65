#include "emulator.hpp"

#include "context.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "thread_sanitizer.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>

namespace monomorph::emulator {
namespace {

constexpr unsigned warp_size = 32;

const char dynamic_key = 0;  ///< its address is that of the memory whose size a launch gives

enum class State { ready, at_barrier, exchanging, voting, ended };

struct Thread {
  State state = State::ready;
  uint3 index{};
  Where where{};            ///< it waits
  unsigned mask = 0;        ///< of the lanes that it waits for
  std::uint64_t value = 0;  ///< that it gives, and is given then
  unsigned source = 0;      ///< the lane that gives it
  Context context;
  SanitizedFiber fiber;
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
};

std::string text_of(uint3 at) {
  std::ostringstream text;
  text << '(' << at.x << ", " << at.y << ", " << at.z << ')';
  return text.str();
}
std::string text_of(const Where& where) {
  std::ostringstream text;
  text << where.function_name() << ", " << where.file_name() << ':' << where.line();
  return text.str();
}
/// A file's name is nearly always one text in memory, so that its letters need not be compared at each meeting.
bool same_place(const Where& a, const Where& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}
uint3 index_in(dim3 shape, std::uint64_t i) {
  return {static_cast<unsigned>(i % shape.x), static_cast<unsigned>(i / shape.x % shape.y),
          static_cast<unsigned>(i / shape.x / shape.y)};
}

/// Numbers from 0 on, in the order of the schedule.
class Turns {
 public:
  Turns(std::size_t n, std::mt19937_64& random) : turns_(n), random_(random) {
    std::iota(turns_.begin(), turns_.end(), std::size_t{0});
    if (schedule().order == Schedule::Order::backward) std::ranges::reverse(turns_);
  }
  const std::vector<std::size_t>& next() {
    if (schedule().order == Schedule::Order::random) std::ranges::shuffle(turns_, random_);
    return turns_;
  }

 private:
  std::vector<std::size_t> turns_;
  std::mt19937_64& random_;
};

/// Threads meet at a place again and again; ThreadSanitizer knows each time by an address. There are two, as a thread
/// may come again before another has gone.
class Meeting {
 public:
  char& place() { return places_[opened_ % 2]; }
  void open() { ++opened_; }

 private:
  char places_[2]{};
  unsigned opened_ = 0;
};

/// The block that runs.
class Block {
 public:
  void run(dim3 shape, std::size_t dynamic_bytes, const std::function<void()>& body, std::mt19937_64& random);

  bool wait_at_barrier(const Where& where, bool value) {
    Thread& thread = now();
    thread.where = where;
    thread.mask = 0;
    thread.value = value ? 1 : 0;
    meet(State::at_barrier, barrier_.place());
    return thread.value != 0;
  }
  std::uint64_t wait_in_warp(State state, unsigned mask, std::uint64_t value, unsigned source, const Where& where);
  unsigned lane() const { return static_cast<unsigned>(now_ % warp_size); }
  void* memory(const void* key, std::size_t bytes) {
    auto& memory = memories_[key];
    if (memory.empty()) {
      memory.assign(bytes / sizeof(Unit) + 1, unwritten);
      if (onlooker != nullptr) onlooker->block_gets(memory.data(), memory.size() * sizeof(Unit));
      happens_before(memory_);
    }
    happens_after(memory_);
    return memory.data();
  }

 private:
  struct alignas(16) Unit {
    std::uint64_t words[2];
  };
  static constexpr Unit unwritten{{~std::uint64_t{0}, ~std::uint64_t{0}}};

  static void enter();
  Thread& now() { return threads_[now_]; }
  void begin(dim3 shape);
  void leave_as(State state);
  void meet(State state, char& place);
  bool give_turns(Turns& warps, Turns& lanes);
  bool give_turns_within(std::size_t first, std::size_t n, Turns& lanes);
  void open_barrier();
  void open_warp(std::span<Thread> warp);
  void let_meet(std::span<Thread> warp, const Thread& first);
  [[noreturn]] void report_who_waits() const;

  std::vector<Thread> pool_;  ///< of the largest block so far: stacks and fibers are kept from block to block
  std::span<Thread> threads_;
  std::size_t now_ = 0;
  Context scheduler_;
  CurrentFiber scheduler_fiber_;
  const std::function<void()>* body_ = nullptr;
  std::map<const void*, std::vector<Unit>> memories_;
  char beginning_ = 0, memory_ = 0, end_ = 0;  ///< as the places of meetings: known by their addresses
  Meeting barrier_;
};

Block& block() {
  static Block block;
  return block;
}

/// What lanes give each other orders nothing that they do to memory: only barriers do, as CUDA has it.
std::uint64_t Block::wait_in_warp(State state, unsigned mask, std::uint64_t value, unsigned source,
                                  const Where& where) {
  Thread& thread = now();
  thread.where = where;
  thread.mask = mask;
  thread.value = value;
  thread.source = source;
  leave_as(state);
  return thread.value;
}

void Block::enter() {
  Block& self = block();
  happens_after(self.beginning_);
  (*self.body_)();
  self.meet(State::ended, self.end_);
}

void Block::leave_as(State state) {
  Thread& thread = now();
  thread.state = state;
  scheduler_fiber_.enter();
  thread.context.switch_to(scheduler_);
}

/// What threads do before they meet happens before what they do then.
void Block::meet(State state, char& place) {
  happens_before(place);
  leave_as(state);
  happens_after(place);
}

void Block::begin(dim3 shape) {
  memories_.clear();
  if (pool_.size() < shape.count()) pool_.resize(shape.count());
  threads_ = std::span(pool_).first(shape.count());
  scheduler_fiber_.adopt();
  happens_before(beginning_);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    thread.state = State::ready;
    thread.index = index_in(shape, i);
    thread.context.begin({thread.stack.get(), stack_bytes}, enter);
  }
}

void Block::run(dim3 shape, std::size_t dynamic_bytes, const std::function<void()>& body, std::mt19937_64& random) {
  body_ = &body;
  begin(shape);
  memory(&dynamic_key, dynamic_bytes);
  Turns warps((threads_.size() + warp_size - 1) / warp_size, random), lanes(warp_size, random);
  while (give_turns(warps, lanes)) open_barrier();
  if (std::ranges::any_of(threads_, [](const Thread& thread) { return thread.state != State::ended; }))
    report_who_waits();
  happens_after(end_);
}

/// Lets each warp run as far as it comes without the others.   @return false if no thread could run
bool Block::give_turns(Turns& warps, Turns& lanes) {
  bool any = false;
  for (const std::size_t turn : warps.next()) {
    const std::size_t first = turn * warp_size;
    const auto warp = threads_.subspan(first, std::min<std::size_t>(warp_size, threads_.size() - first));
    while (give_turns_within(first, warp.size(), lanes)) {
      any = true;
      open_warp(warp);
    }
  }
  return any;
}

bool Block::give_turns_within(std::size_t first, std::size_t n, Turns& lanes) {
  bool any = false;
  for (const std::size_t lane : lanes.next()) {
    if (lane >= n || threads_[first + lane].state != State::ready) continue;
    any = true;
    now_ = first + lane;
    threadIdx = now().index;
    stack_of_thread = now().stack.get();
    now().fiber.enter();
    scheduler_.switch_to(now().context);
  }
  return any;
}

/// If all threads of the block have come to one barrier.
void Block::open_barrier() {
  const Thread& first = threads_.front();
  if (!std::ranges::all_of(threads_, [&](const Thread& thread) {
        return thread.state == State::at_barrier && same_place(thread.where, first.where);
      }))
    return;
  barrier_.open();
  const bool any = std::ranges::any_of(threads_, [](const Thread& thread) { return thread.value != 0; });
  for (Thread& thread : threads_) {
    thread.value = any ? 1 : 0;
    thread.state = State::ready;
  }
}

/// Those lanes go on that wait for each other, and for no one else.
void Block::open_warp(std::span<Thread> warp) {
  for (const Thread& thread : warp)
    if (thread.state == State::exchanging || thread.state == State::voting) let_meet(warp, thread);
}

void Block::let_meet(std::span<Thread> warp, const Thread& first) {
  const State state = first.state;
  const unsigned mask = first.mask;
  const Where where = first.where;
  std::uint64_t given[warp_size]{}, votes = 0;
  for (unsigned i = 0; i < warp_size; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (i >= warp.size() || warp[i].state != state || warp[i].mask != mask || !same_place(warp[i].where, where)) return;
    given[i] = warp[i].value;
    votes |= (warp[i].value & 1) << i;
  }
  for (unsigned i = 0; i < warp.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    Thread& thread = warp[i];
    if (state == State::exchanging && (mask >> thread.source & 1) == 0)
      throw Fault("lane " + std::to_string(i) + " asks lane " + std::to_string(thread.source) +
                  ", which takes no part, in " + text_of(where));
    thread.value = state == State::voting ? votes : given[thread.source];
    thread.state = State::ready;
  }
}

void Block::report_who_waits() const {
  const auto waits = [](const Thread& thread) { return thread.state != State::ended; };
  const Thread& waiting = *std::ranges::find_if(threads_, waits);
  const bool for_all = waiting.state == State::at_barrier;
  const auto warp = static_cast<std::size_t>(&waiting - threads_.data()) / warp_size * warp_size;
  std::ostringstream text;
  text << (for_all ? "a barrier" : "a meeting of lanes") << " that not all reach: thread " << text_of(waiting.index)
       << " of block " << text_of(blockIdx) << " waits in " << text_of(waiting.where) << ", and these do not come:";
  for (std::size_t i = for_all ? 0 : warp; i < (for_all ? threads_.size() : warp + warp_size); ++i) {
    if (!for_all && (waiting.mask >> (i - warp) & 1) == 0) continue;
    if (i >= threads_.size()) {
      text << " lane " << i - warp << ", which the block has not;";
    } else if (const Thread& other = threads_[i]; other.state == State::ended) {
      text << " thread " << text_of(other.index) << ", which has ended;";
    } else if (!same_place(other.where, waiting.where) || other.mask != waiting.mask) {
      text << " thread " << text_of(other.index) << ", which waits in " << text_of(other.where) << ';';
    }
  }
  throw Fault(text.str());
}

/// A kernel that does wrong ends by an exception.
struct NoThread {
  ~NoThread() { stack_of_thread = nullptr; }
};

}  // namespace

Schedule& schedule() {
  static Schedule schedule;
  return schedule;
}

void for_each_schedule(const std::function<void()>& f) {
  const Schedule before = schedule();
  using enum Schedule::Order;
  for (const Schedule each : {Schedule{forward}, {backward}, {random, 1}}) {
    schedule() = each;
    if (onlooker == nullptr || each.order == forward) f();
  }
  schedule() = {random, 2};
  const std::int64_t bound = std::exchange(cuda::bound_on_blocks, 2);
  f();
  cuda::bound_on_blocks = bound;
  schedule() = before;
}

void run(dim3 grid, dim3 block_shape, std::size_t dynamic_bytes, const std::function<void()>& thread) {
  std::mt19937_64 random(schedule().seed);
  gridDim = grid;
  blockDim = block_shape;
  Turns blocks(grid.count(), random);
  const NoThread afterwards;
  if (onlooker != nullptr) onlooker->launch_begins(grid);
  for (const std::size_t turn : blocks.next()) {
    blockIdx = index_in(grid, turn);
    if (onlooker != nullptr) onlooker->block_begins(turn);
    block().run(block_shape, dynamic_bytes, thread, random);
  }
  stack_of_thread = nullptr;
  if (onlooker != nullptr) onlooker->launch_ends();
}

bool barrier(Where where, bool value) { return block().wait_at_barrier(where, value); }
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Where where) {
  return block().wait_in_warp(State::exchanging, mask, value, source % warp_size, where);
}
unsigned vote(unsigned mask, bool value, Where where) {
  return static_cast<unsigned>(block().wait_in_warp(State::voting, mask, value ? 1 : 0, 0, where));
}
unsigned lane() { return block().lane(); }
void* block_memory(const void* key, std::size_t bytes) { return block().memory(key, bytes); }
void* dynamic_memory() { return block().memory(&dynamic_key, 0); }

}  // namespace monomorph::emulator
