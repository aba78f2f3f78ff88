// How this folder works: every process of mpirun runs the whole plan and has a Clients object. A
// thread of it does all communication (clients_state.h); the calls here only exchange texts with
// that thread. Messages (messages.h) is the transport, by an MPI module that is loaded on request
// (mpi_messages.cc), and clients.h has the kinds of messages. All messages go from or to
// the first client, which combines. Start with Clients::meet and Clients::start in clients.cc.
//
// Processes that run a plan in step: their connection, and the messages between them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/error.h"

namespace filereel {

// --- The contents of the messages between clients: a kind, then numbers or texts.

// The first byte of a message.
enum class MessageKind : char {
  hello = 'H',         // to the first: the sender's host and clock
  sign_of_life = 'L',  // to the first, and from it to all
  contribution = 'C',  // to the first
  answer = 'A',        // from the first
  ping = 'P',          // to the first
  pong = 'Q',          // from the first: its clock
  failed = 'F',        // to the first, and from it to all: the reason
  stopped = 'S',       // the same, without a reason
  done = 'D',          // the same: see Clients::finish
};

// A number in the sender's byte order: MPI starts the same binary everywhere.
inline std::string bytes_of(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
// 0 for bytes of another length.
inline std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t value = 0;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// A list of texts, each with its length.
std::string pack_texts(std::span<const std::string> texts);
// Of damaged bytes, the texts up to the damage.
std::vector<std::string> unpack_texts(std::string_view bytes);

// --- The clients of a parallel run: processes, on one or several machines, that execute the same
// plan in step. Each runs the whole program; they meet at fixed points and start together.

struct ClientsOptions {
  std::uint64_t timeout_ns = 60'000'000'000;  // without a sign of life, a client counts as lost
  std::uint64_t stagger_ns = 0;               // client N starts N times this later
  std::stop_token stop = {};                  // requested by the user of this process
};

// A common start, as this client saw it. All in seconds.
struct StartFigures {
  double late_s = 0;         // from the agreed time of this client to its actual start
  double planned_s = 0;      // from the start of the first client, see ClientsOptions::stagger_ns
  double clock_error_s = 0;  // half the shortest round trip of a message; 0 with a common clock
};

// Every client makes the same calls of meet() and start() in the same order. If one fails, is
// stopped, or is lost, all others are stopped: stop_token(). From then on these calls throw: the
// failure of the first that failed, as an Error(failed) that names the client, or Stopped.
//
// A thread of this class does all communication. Between meetings it only exchanges signs of life.
class Clients {
 public:
  struct Stopped {};  // thrown after a request of the user

  // A single client: nothing is exchanged.
  explicit Clients(const ClientsOptions& options = {});
  // Joins the other processes of mpirun or srun and waits for all. Throws Error(failed).
  static std::unique_ptr<Clients> join(const ClientsOptions& options);
  // Waits for the others to end. If one is lost, ends all processes, also this one.
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  std::uint32_t rank() const { return rank_; }  // of this client, from 0
  std::uint32_t count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  bool first() const { return rank_ == 0; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // by rank
  // Requested if this client or another one is stopped, fails or is lost.
  std::stop_token stop_token() const;

  // The first client gets the contributions of all, by rank, and combines them. All get its answer.
  using Combine = std::function<std::string(std::vector<std::string> contributions)>;
  std::string meet(std::string contribution, const Combine& combine);
  void meet();  // a barrier
  // All get the value of the first client.
  std::string value_of_first(std::string value);
  bool value_of_first(bool value);

  // Waits for all clients, then until an agreed time on their synchronised clocks. Calls `prepare`
  // before: immediately, or shortly before a start that is much later than that of the first
  // client (ClientsOptions::stagger_ns).
  StartFigures start(const std::function<void()>& prepare);

  // After work in which each client may fail by itself: throws the failure of this client, if any,
  // otherwise that of another one.
  void agree(const std::optional<Error>& own);

  bool any_lost() const;
  // Throws the failure of any client.
  void check_failure() const;
  // Tells the others that this client has failed. The text is that of an Error.
  void fail(const std::string& text);
  // No more files are used by this client. The first client waits until this holds for all that
  // still live.
  void finish() noexcept;

  struct State;  // clients_state.h

 private:
  explicit Clients(std::unique_ptr<State> state);

  std::uint32_t rank_ = 0;
  std::vector<std::string> hosts_;
  ClientsOptions options_;
  std::unique_ptr<State> state_;  // null: a single client
};

}  // namespace filereel
