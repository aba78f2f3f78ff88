// The inside of Clients: what the caller's thread and the one that communicates share.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "replay/clients/clients.h"
#include "replay/clients/messages.h"

namespace filereel {

std::string host_name();

// Counts a waiting caller.
class Waiting {
 public:
  explicit Waiting(std::uint32_t& count) : count_(count) { ++count_; }
  ~Waiting() { --count_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::uint32_t& count_;
};

// The members that change are guarded by the mutex, except the stop source, which needs none.
struct Clients::State {
  explicit State(const ClientsOptions& wanted)
      : options(wanted), forward(wanted.stop, [this] { stop.request_stop(); }) {}

  ClientsOptions options;
  std::stop_source stop;
  std::stop_callback<std::function<void()>> forward;
  std::mutex mutex;
  std::condition_variable changed;  // of everything below
  bool joined = false;              // MPI has started
  bool all_joined = false;          // all clients know each other
  std::string start_failure;        // MPI did not start
  std::uint32_t rank = 0;
  std::vector<std::string> hosts, clocks;  // see clock_id
  std::deque<std::pair<std::uint32_t, std::string>> outgoing;
  std::vector<std::deque<std::string>> contributions;  // by rank, at the first client
  std::deque<std::string> answers;
  std::optional<std::string> failure;  // of any client
  std::uint32_t waiting = 0;           // callers that wait: the thread looks more often
  bool has_clock_of_first = false;     // the same clock: nothing to synchronise
  // The clock of the first client minus this one's, and half the round trip of that ping.
  std::int64_t offset_ns = 0;
  std::uint64_t error_ns = UINT64_MAX;
  std::uint32_t pings = 0;    // still to be sent
  std::vector<bool> is_done;  // by rank
  bool lost = false;          // one does not answer: the processes cannot end together
  bool ending = false;
  std::jthread thread;

  // Ends the thread.
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // All of these are called with the mutex held.
  void post(std::uint32_t to, MessageKind kind, std::string_view body = {}) {
    outgoing.emplace_back(to, std::string(1, static_cast<char>(kind)).append(body));
    changed.notify_all();
  }
  void post_to_others(MessageKind kind, std::string_view body = {});
  // To the first client, and from it to all.
  void announce(MessageKind kind, std::string_view body = {}) {
    rank == 0 ? post_to_others(kind, body) : post(0, kind, body);
  }
  std::string name_of(std::uint32_t client) const;
  // The first failure is passed on to all clients.
  void note_failure(const std::string& text);
  void note_lost(std::uint32_t client);
  void note_early_end(std::uint32_t client);
  void check() const {
    if (failure) throw Error(ErrorKind::failed, *failure);
    if (stop.stop_requested()) throw Stopped{};
  }

  void handle(Messages& messages, const Message& message);
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready);
  // Waits until this holds something from that client. Its end is a failure: it met less often.
  template <class Queue>
  void wait_for(std::unique_lock<std::mutex>& lock, const Queue& queue, std::uint32_t client);
  // At the first client: one contribution of each other one, by rank, after an empty text.
  std::vector<std::string> take_contributions(std::unique_lock<std::mutex>& lock);

  // The thread that communicates; until `ending`.
  void communicate();
};

template <class Ready>
void Clients::State::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  const Waiting counted(waiting);
  changed.notify_all();
  // Signals set the token without a notification.
  while (!ready()) {
    check();
    changed.wait_for(lock, std::chrono::milliseconds(20));
  }
}

template <class Queue>
void Clients::State::wait_for(std::unique_lock<std::mutex>& lock, const Queue& queue,
                              std::uint32_t client) {
  wait(lock, [&] {
    if (!queue.empty()) return true;
    check();  // the reason for an end
    if (is_done[client]) note_early_end(client);
    return false;
  });
}

}  // namespace filereel
