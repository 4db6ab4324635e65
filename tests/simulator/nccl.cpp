// The functions of NCCL that the backend calls, as the simulator has them: each rank is a process with a GPU of its
// own, and what GPUs would send each other goes through a mailbox. A collective is two operations of its stream: one
// sends this rank's part and leaves NaNs where the result will be, and the other one, which runs when all parts have
// come, writes the result. So nothing waits within a call, and other streams go on. As communicators that do not block
// may, it is done with some calls only later, when it is asked again how they went.
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "simulator/mailbox.hpp"
#include "simulator/simulator.hpp"

/// What NCCL has begun behind a call, and ends when it was asked a few times how it goes.
class InProgress {
 public:
  bool goes_on() const {
    const std::lock_guard lock(mutex_);
    return end_ != nullptr;
  }
  void begin(std::function<ncclResult_t()> end) {
    const std::lock_guard lock(mutex_);
    end_ = std::move(end);
    n_looks_ = 0;
    caller_ = std::this_thread::get_id();
  }
  /// What GPUs are given is given by the thread that asked for it: the simulator knows one.
  ncclResult_t look() {
    std::function<ncclResult_t()> end;
    {
      const std::lock_guard lock(mutex_);
      if (end_ == nullptr) return ncclSuccess;
      if (std::this_thread::get_id() != caller_ || ++n_looks_ < looks_until_end) return ncclInProgress;
      end = std::exchange(end_, nullptr);
    }
    return end();
  }

 private:
  static constexpr int looks_until_end = 2;
  mutable std::mutex mutex_;
  std::function<ncclResult_t()> end_;
  int n_looks_ = 0;
  std::thread::id caller_;
};

struct ncclComm {
  monomorph::simulator::Mailbox mailbox;
  int rank, size;
  std::atomic<bool> has_begun = false, is_aborted = false;
  bool shares_a_gpu = false;
  std::int64_t n_calls = 0;  ///< of collectives
  InProgress in_progress;
  std::shared_ptr<int> recorded = std::make_shared<int>();  ///< which graphs have that have its collectives
  // They are counted where they run, as a graph runs one call again and again.
  std::int64_t n_collectives = 0;                ///< of which this rank has sent its part
  std::vector<std::int64_t> n_sent, n_received;  ///< messages that have begun, by the other rank

  ncclComm(const std::string& folder, int rank_of, int size_of, int device)
      : mailbox(folder, rank_of, size_of, device),
        rank(rank_of),
        size(size_of),
        n_sent(static_cast<std::size_t>(size_of)),
        n_received(static_cast<std::size_t>(size_of)) {}
};

namespace {

using monomorph::simulator::Simulator;
using monomorph::simulator::Status;
using Communicator = std::shared_ptr<ncclComm>;

Simulator& gpu() { return Simulator::the(); }

/// What goes wrong on the rank with one GPU, by its number: MONOMORPH_SIMULATOR_NCCL="<GPU> <what>", where <what> is
/// one of connecting, failing (behind the calls, some time after training has begun), calling (the same in a call); and
/// all-gather, reduce-scatter, all-reduce (of gradients) and message, which then give wrong numbers.
bool goes_wrong(std::string_view what) {
  static const std::string set = [] {
    const char* const variable = std::getenv("MONOMORPH_SIMULATOR_NCCL");
    return std::string(variable == nullptr ? "" : variable);
  }();
  return !set.empty() && set == std::to_string(gpu().device()) + " " + std::string(what);
}
constexpr std::int64_t calls_before_failure = 20;  // of one communicator
void spoil_last_byte(std::byte* bytes, std::size_t n) { bytes[n - 1] ^= std::byte{1}; }

[[noreturn]] void end(const std::string& what) {
  std::fprintf(stderr, "simulator: %s\n", what.c_str());
  std::_Exit(3);
}

/// Operations may still run when the backend has let go of a communicator.
std::vector<Communicator>& communicators() {
  static auto& all = *new std::vector<Communicator>;
  return all;
}
Communicator shared(ncclComm* communicator) {
  const auto found = std::ranges::find(communicators(), communicator, &Communicator::get);
  if (found == communicators().end()) end("NCCL is called with a communicator that is not there any more");
  return *found;
}

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

template <class T> void add(std::byte* sums, const std::byte* terms, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
    T sum, term;
    std::memcpy(&sum, sums + i, sizeof(T));
    std::memcpy(&term, terms + i, sizeof(T));
    sum += term;
    std::memcpy(sums + i, &sum, sizeof(T));
  }
}
void add(ncclDataType_t type, std::byte* sums, const std::byte* terms, std::size_t bytes) {
  switch (type) {
    case ncclFloat32:
      return add<float>(sums, terms, bytes);
    case ncclFloat64:
      return add<double>(sums, terms, bytes);
    case ncclInt64:
      return add<std::int64_t>(sums, terms, bytes);
    default:
      end("the simulated NCCL adds up no elements of type " + std::to_string(type) + "; teach it, in tests/simulator");
  }
}

const std::byte* bytes_of(const void* memory) { return static_cast<const std::byte*>(memory); }

/// What one rank gives a collective, and what it gets. All ranks must call the same.
struct Collective {
  std::string name;  ///< with all that must be the same on all ranks
  const std::byte* sent;
  std::size_t sent_bytes;
  std::byte* received;
  std::size_t received_bytes;
  /// From what all ranks have sent, in their order.
  std::function<void(const std::vector<std::vector<std::byte>>& parts)> receive;
};

std::string letter(std::int64_t number, int rank) { return std::to_string(number) + " of " + std::to_string(rank); }

/// The name, and behind it the bytes.
std::vector<std::byte> with_name(const std::string& name, const std::byte* bytes, std::size_t n) {
  std::vector<std::byte> all(name.size() + 1);
  std::memcpy(all.data(), name.c_str(), name.size() + 1);
  all.insert(all.end(), bytes, bytes + n);
  return all;
}
std::vector<std::byte> without_name(const std::string& name, std::vector<std::byte> all, int from) {
  const std::string found = reinterpret_cast<const char*>(all.data());
  if (found != name) end("rank " + std::to_string(from) + " calls " + found + " where another one calls " + name);
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(name.size()) + 1);
  return all;
}

/// NaNs where the result will be, but for what is sent from there.
void spoil(const Collective& call) {
  gpu().writes(call.received, call.received_bytes);
  for (std::size_t i = 0; i < call.received_bytes; ++i)
    if (const std::byte* const at = call.received + i; at < call.sent || at >= call.sent + call.sent_bytes)
      call.received[i] = std::byte{0xFF};
}

void send_part(ncclComm& communicator, const Collective& call) {
  const std::int64_t number = communicator.n_collectives++;
  gpu().reads(call.sent, call.sent_bytes);
  communicator.mailbox.send(letter(number, communicator.rank), with_name(call.name, call.sent, call.sent_bytes));
  spoil(call);
}
/// Of the collective whose part was sent last: they run one after the other.
bool parts_have_come(const ncclComm& communicator) {
  const std::int64_t number = communicator.n_collectives - 1;
  for (int rank = 0; rank < communicator.size; ++rank)
    if (!communicator.mailbox.has(letter(number, rank))) return communicator.is_aborted;
  return true;
}
void receive_parts(const ncclComm& communicator, const Collective& call) {
  if (communicator.is_aborted) return;
  const std::int64_t number = communicator.n_collectives - 1;
  std::vector<std::vector<std::byte>> parts;
  for (int rank = 0; rank < communicator.size; ++rank)
    parts.push_back(without_name(call.name, communicator.mailbox.read(letter(number, rank)), rank));
  // Who has sent this part has received all of the collective before, as they run one after the other.
  if (number > 0) communicator.mailbox.remove(letter(number - 1, communicator.rank));
  gpu().reads(call.sent, call.sent_bytes);  // until its end
  gpu().writes(call.received, call.received_bytes);
  call.receive(parts);
  for (const std::string_view kind : {"all-gather", "reduce-scatter"})
    if (call.name.starts_with(kind) && goes_wrong(kind)) spoil_last_byte(call.received, call.received_bytes);
}

ncclResult_t result_of(Status status) { return status == Status::success ? ncclSuccess : ncclUnhandledCudaError; }

/// Calls NCCL is done with at once, and every fifth from the first one on later: nothing else may be asked of the
/// communicator before.
ncclResult_t begin(ncclComm& communicator, std::function<ncclResult_t()> give) {
  if (!communicator.has_begun || communicator.is_aborted) return ncclInvalidUsage;
  if (communicator.in_progress.goes_on()) end("NCCL is called while a call of the same communicator is in progress");
  const std::int64_t number = communicator.n_calls++;
  if (number >= calls_before_failure && goes_wrong("calling")) return ncclInternalError;
  ++gpu().counts().collectives;
  if (number % 5 != 0) return give();
  communicator.in_progress.begin(std::move(give));
  return ncclInProgress;
}

/// Both operations of a collective. A graph of which they become a part holds on to them.
ncclResult_t give(const ncclComm& communicator, cudaStream_t stream, std::function<void()> send,
                  std::function<void()> receive, std::function<bool()> ready) {
  const std::shared_ptr<int> recorded = stream->capture ? communicator.recorded : nullptr;
  gpu().give(stream, "NCCL's sending", std::move(send));
  return result_of(gpu().give(
      stream, "NCCL's receiving", [receive = std::move(receive), recorded] { receive(); }, std::move(ready)));
}

ncclResult_t call(ncclComm* to, cudaStream_t stream, Collective call) {
  return begin(*to, [=, communicator = shared(to)] {
    return give(
        *communicator, stream, [=] { send_part(*communicator, call); }, [=] { receive_parts(*communicator, call); },
        [=] { return parts_have_come(*communicator); });
  });
}

/// Messages of a group, which go on at the same time.
struct Message {
  ncclComm* communicator;
  cudaStream_t stream;
  bool sends;
  int peer;
  std::byte* bytes;
  std::size_t n;
};
bool in_group = false;
std::vector<Message> group;

std::string letter(const ncclComm& communicator, const Message& message, std::int64_t number) {
  const int from = message.sends ? communicator.rank : message.peer,
            to = message.sends ? message.peer : communicator.rank;
  return std::to_string(number) + " from " + std::to_string(from) + " to " + std::to_string(to);
}

struct Numbered {
  Message message;
  std::string letter;
};

void exchange_sent(ncclComm& communicator, std::vector<Numbered>& messages) {
  for (auto& [message, name] : messages) {
    const auto peer = static_cast<std::size_t>(message.peer);
    name = letter(communicator, message, message.sends ? communicator.n_sent[peer]++ : communicator.n_received[peer]++);
    if (message.sends) {
      gpu().reads(message.bytes, message.n);
      communicator.mailbox.send(name, {message.bytes, message.n});
    } else {
      gpu().writes(message.bytes, message.n);
      std::memset(message.bytes, 0xFF, message.n);
    }
  }
}
bool exchange_is_ready(const ncclComm& communicator, const std::vector<Numbered>& messages) {
  return communicator.is_aborted || std::ranges::all_of(messages, [&](const Numbered& numbered) {
           return numbered.message.sends || communicator.mailbox.has(numbered.letter);
         });
}
void exchange_received(const ncclComm& communicator, const std::vector<Numbered>& messages) {
  if (communicator.is_aborted) return;
  for (const auto& [message, name] : messages) {
    if (message.sends) {
      gpu().reads(message.bytes, message.n);
      continue;
    }
    const std::vector<std::byte> bytes = communicator.mailbox.read(name);
    if (bytes.size() != message.n)
      end("rank " + std::to_string(message.peer) + " sends " + std::to_string(bytes.size()) + " bytes where " +
          std::to_string(message.n) + " are received");
    gpu().writes(message.bytes, message.n);
    std::memcpy(message.bytes, bytes.data(), message.n);
    if (goes_wrong("message")) spoil_last_byte(message.bytes, message.n);
    communicator.mailbox.remove(name);
  }
}

ncclResult_t give_group() {
  if (group.empty()) return ncclSuccess;
  ncclComm* const to = group.front().communicator;
  const cudaStream_t stream = group.front().stream;
  const auto messages = std::make_shared<std::vector<Numbered>>();  // the second operation has the first one's numbers
  for (const Message& message : std::exchange(group, {})) {
    if (message.communicator != to || message.stream != stream)
      end("the simulated NCCL knows groups of one communicator and stream; teach it, in tests/simulator");
    messages->push_back({message, {}});
  }
  return begin(*to, [=, communicator = shared(to)] {
    return give(
        *communicator, stream, [=] { exchange_sent(*communicator, *messages); },
        [=] { exchange_received(*communicator, *messages); },
        [=] { return exchange_is_ready(*communicator, *messages); });
  });
}

ncclResult_t add_message(const Message& message) {
  if (!message.communicator->has_begun || message.peer < 0 || message.peer >= message.communicator->size)
    return ncclInvalidArgument;
  group.push_back(message);
  return in_group ? ncclSuccess : give_group();
}

std::byte* writable(const void* memory) { return const_cast<std::byte*>(bytes_of(memory)); }

}  // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::snprintf(id->internal, sizeof id->internal, "%s", monomorph::simulator::Mailbox::make().c_str());
  return ncclSuccess;
}

/// It connects the ranks behind the call, as the configuration must ask for.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int n, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (config->size != sizeof(ncclConfig_t) || config->blocking != 0) return ncclInvalidArgument;
  communicators().push_back(std::make_shared<ncclComm>(id.internal, rank, n, gpu().device()));
  *communicator = communicators().back().get();
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = ncclSuccess;
  if (!communicator->has_begun && goes_wrong("connecting"))
    *error = ncclSystemError;
  else if (communicator->n_calls > calls_before_failure && goes_wrong("failing"))
    *error = ncclInternalError;
  else if (communicator->shares_a_gpu)
    *error = ncclInvalidUsage;
  else if (communicator->mailbox.vanished() >= 0)
    *error = ncclRemoteError;
  else if (!communicator->has_begun) {
    *error = ncclInProgress;
    if (!communicator->mailbox.all_have_come()) return ncclSuccess;
    std::vector<int> devices = communicator->mailbox.notes();
    std::ranges::sort(devices);
    communicator->shares_a_gpu = std::ranges::adjacent_find(devices) != devices.end();
    *error = communicator->shares_a_gpu ? ncclInvalidUsage : ncclSuccess;
    communicator->has_begun = !communicator->shares_a_gpu;
  } else {
    *error = communicator->in_progress.look();
  }
  return ncclSuccess;
}

/// As NCCL does, it waits until no graph has collectives of the communicator any more.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->is_aborted = true;
  while (communicator->recorded.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  shared(communicator)->mailbox.leave();
  std::erase_if(communicators(), [&](const Communicator& each) { return each.get() == communicator; });
  return ncclSuccess;
}
/// It waits for the GPU, and says so where that has failed.
ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  if (gpu().status() != Status::success) return result_of(gpu().status());
  if (communicator->in_progress.goes_on()) end("NCCL is to finalize a communicator of which a call is in progress");
  communicator->in_progress.begin([] { return ncclSuccess; });
  return ncclInProgress;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "an error that the simulator has not";
  }
}

ncclResult_t ncclAllGather(const void* sent, void* received, std::size_t count, ncclDataType_t type, ncclComm_t to,
                           cudaStream_t stream) {
  const std::size_t bytes = count * size_of(type);
  auto* const result = static_cast<std::byte*>(received);
  return call(to, stream,
              {.name = "all-gather of " + std::to_string(bytes),
               .sent = bytes_of(sent),
               .sent_bytes = bytes,
               .received = result,
               .received_bytes = bytes * static_cast<std::size_t>(to->size),
               .receive = [=](const std::vector<std::vector<std::byte>>& parts) {
                 for (std::size_t rank = 0; rank < parts.size(); ++rank)
                   std::memcpy(result + rank * bytes, parts[rank].data(), bytes);
               }});
}

namespace {

/// Adds up the part of each rank from `first` on, in the order of the ranks.
void add_up(const std::vector<std::vector<std::byte>>& parts, std::size_t first, std::byte* sums, std::size_t bytes,
            ncclDataType_t type) {
  std::memcpy(sums, parts.front().data() + first, bytes);
  for (std::size_t rank = 1; rank < parts.size(); ++rank) add(type, sums, parts[rank].data() + first, bytes);
}

/// The greatest of each rank's words.
void join_words(const std::vector<std::vector<std::byte>>& parts, std::byte* greatest, std::size_t bytes) {
  std::memcpy(greatest, parts.front().data(), bytes);
  for (const std::vector<std::byte>& part : parts)
    for (std::size_t i = 0; i < bytes; i += sizeof(std::int64_t)) {
      std::int64_t word = 0, most = 0;
      std::memcpy(&word, part.data() + i, sizeof word);
      std::memcpy(&most, greatest + i, sizeof most);
      most = std::max(most, word);
      std::memcpy(greatest + i, &most, sizeof most);
    }
}

}  // namespace

ncclResult_t ncclReduceScatter(const void* sent, void* received, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t to, cudaStream_t stream) {
  if (operation != ncclSum) return ncclInvalidArgument;
  const std::size_t bytes = count * size_of(type), first = bytes * static_cast<std::size_t>(to->rank);
  auto* const result = static_cast<std::byte*>(received);
  return call(to, stream,
              {.name = "reduce-scatter of " + std::to_string(bytes) + " of type " + std::to_string(type),
               .sent = bytes_of(sent),
               .sent_bytes = bytes * static_cast<std::size_t>(to->size),
               .received = result,
               .received_bytes = bytes,
               .receive = [=](const std::vector<std::vector<std::byte>>& parts) {
                 add_up(parts, first, result, bytes, type);
               }});
}

ncclResult_t ncclAllReduce(const void* sent, void* received, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t to, cudaStream_t stream) {
  const bool takes_greatest = operation == ncclMax && type == ncclInt64;
  if (operation != ncclSum && !takes_greatest) return ncclInvalidArgument;
  const std::size_t bytes = count * size_of(type);
  auto* const result = static_cast<std::byte*>(received);
  return call(to, stream,
              {.name = "all-reduce of " + std::to_string(bytes) + " of type " + std::to_string(type),
               .sent = bytes_of(sent),
               .sent_bytes = bytes,
               .received = result,
               .received_bytes = bytes,
               .receive = [=](const std::vector<std::vector<std::byte>>& parts) {
                 if (takes_greatest)
                   join_words(parts, result, bytes);
                 else
                   add_up(parts, 0, result, bytes, type);
                 if (type == ncclFloat32 && goes_wrong("all-reduce")) spoil_last_byte(result, bytes);
               }});
}

ncclResult_t ncclSend(const void* sent, std::size_t count, ncclDataType_t type, int peer, ncclComm_t to,
                      cudaStream_t stream) {
  return add_message({to, stream, true, peer, writable(sent), count * size_of(type)});
}
ncclResult_t ncclRecv(void* received, std::size_t count, ncclDataType_t type, int peer, ncclComm_t to,
                      cudaStream_t stream) {
  return add_message({to, stream, false, peer, writable(received), count * size_of(type)});
}
ncclResult_t ncclGroupStart() {
  if (std::exchange(in_group, true)) end("the simulated NCCL knows no groups in groups; teach it, in tests/simulator");
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  in_group = false;
  return give_group();
}
