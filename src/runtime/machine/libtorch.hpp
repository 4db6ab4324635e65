#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/// What programs call of LibTorch, without a header of it. The bodies are a module (src/runtime/libtorch), opened at
/// the first call, because LibTorch takes a quarter of a second and 110 MB to load: what only describes a recipe, or is
/// refused, needs nothing of it (docs/why/libtorch_when_needed.md). Blocks that LibTorch differentiates are the
/// exception: a program that has one is linked with LibTorch.
///
/// What fails in there is thrown as a std::exception with LibTorch's words, of which the first line alone is for
/// people.
namespace monomorph::libtorch {

/// A routine of Fortran's BLAS for c = alpha · op(a) · op(b) + beta · c: column-major, 32-bit sizes.
template <class Operand, class Result>
using Gemm = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                  const Result* alpha, const Operand* a, const int* lda, const Operand* b, const int* ldb,
                  const Result* beta, Result* c, const int* ldc);

/// The matrix products. Only the x86 build of LibTorch, with MKL, has the last two; they are null in others.
struct Products {
  Gemm<float, float>* fp32;
  Gemm<double, double>* fp64;
  Gemm<std::uint16_t, float>* bf16;
  int (*set_threads_of_caller)(int threads);  ///< returns how many there were before
};

/// c10d's store: a small table of texts that all ranks see.
class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Waits until it has been set.
  virtual std::string get(const std::string& key, std::chrono::milliseconds time_limit) = 0;
  virtual void remove(const std::string& key) = 0;
  virtual bool has(const std::string& key) = 0;
};

/// A message between two ranks that is on its way.
class Message {
 public:
  virtual ~Message() = default;
  virtual void wait() = 0;
};

/// Gloo's connections of one rank with all others.
class Connections {
 public:
  virtual ~Connections() = default;
  /// The bytes must stay as they are until the message was waited for.
  virtual std::unique_ptr<Message> send(int to, int channel, std::span<std::byte> bytes) = 0;
  virtual std::unique_ptr<Message> receive(int from, int channel, std::span<std::byte> bytes) = 0;
};

/// By which network ranks are connected: that of an interface or of an address, or the one that Gloo takes itself.
struct Network {
  enum class By { interface, address, itself } by;
  std::string name;
};

class Library {
 public:
  virtual ~Library() = default;
  virtual const Products& products() const = 0;
  /// How LibTorch describes itself and the libraries in it, several lines.
  virtual std::string description() const = 0;

  virtual std::shared_ptr<Store> store_in_process() const = 0;
  /// @param serves the table is in this process, and lives as long as the store
  virtual std::shared_ptr<Store> store(const std::string& host, int port, bool serves,
                                       std::chrono::milliseconds time_limit) const = 0;
  /// Serves a table on a free port of 127.0.0.1.   @param port where the port's number is put
  virtual std::shared_ptr<Store> served_store(int& port) const = 0;
  /// The same table, with `name` in front of each key.
  virtual std::shared_ptr<Store> store_under(const std::string& name, std::shared_ptr<Store> store) const = 0;

  /// Connects the caller with every other rank.   @param time_limit of connecting and of every message
  virtual std::unique_ptr<Connections> connect(std::shared_ptr<Store> store, int rank, int size, const Network& network,
                                               std::chrono::milliseconds time_limit) const = 0;
};

/// @throws Error [RUN-33] it can't be loaded
const Library& library();

}  // namespace monomorph::libtorch
