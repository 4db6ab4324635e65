#pragma once
#include "train/serve/completion_request.hpp"
#include "train/serve/http_server.hpp"
#include "train/serve/loopback_hosts.hpp"
#include "train/serve/scheduler.hpp"

namespace monomorph::train {

/// OpenAI's API over one model: /v1/models, /v1/completions, /v1/chat/completions, and /health. Threads share one.
class Api {
 public:
  /// @param key that requests must bring; empty: none   @param longest that a request may take
  /// @param hosts by which requests without a key must ask; nothing: by any
  Api(const ServedModel& model, Scheduler& scheduler, std::string key, std::chrono::seconds longest,
      std::optional<LoopbackHosts> hosts)
      : model_(model), scheduler_(scheduler), key_(std::move(key)), longest_(longest), hosts_(std::move(hosts)) {}

  /// Answers what has no body; of what has one, refuses wrong hosts, paths, methods and keys.   @throws ApiError
  HttpReply admit(const HttpRequest& request) const;
  /// @throws ApiError
  HttpReply answer(const HttpRequest& request) const;

 private:
  std::string models() const;
  void check_host(const HttpRequest& request) const;
  void check_key(const HttpRequest& request) const;
  std::shared_ptr<TextEvents> submit(const CompletionRequest& request) const;
  std::string whole(const HttpRequest& http, const CompletionRequest& request, TextEvents& events,
                    std::chrono::steady_clock::time_point until) const;
  void stream(const CompletionRequest& request, TextEvents& events, std::chrono::steady_clock::time_point until,
              const EventStream& client) const;

  const ServedModel& model_;
  Scheduler& scheduler_;
  std::string key_;
  std::chrono::seconds longest_;
  std::optional<LoopbackHosts> hosts_;
};

}  // namespace monomorph::train
