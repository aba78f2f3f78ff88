#include "replay/clients/clients.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/clients/message_contents.h"
#include "replay/clients/messages.h"
#include "replay/measure/clock.h"
#include "replay/measure/precise_sleep.h"

namespace filereel {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kPings = 8;

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.c_str();
}

// The same for processes whose clocks (kernel_ns) are the same: of one start of a kernel, in one
// time namespace. "" if unknown.
std::string clock_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  boost::system::error_code error;
  const auto names = boost::filesystem::read_symlink("/proc/self/ns/time", error);
  return boot.empty() ? "" : boot + " " + names.string();
}

}  // namespace

// Shared by the caller's thread and the one that communicates.
struct Clients::State {
  explicit State(const ClientsOptions& wanted)
      : options(wanted), forward(wanted.stop, [this] { stop.request_stop(); }) {}

  ClientsOptions options;
  std::stop_source stop;
  std::stop_callback<std::function<void()>> forward;
  std::mutex mutex;
  std::condition_variable changed;  // of everything below
  bool joined = false;
  std::string start_failure;  // MPI did not start
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
  std::vector<bool> is_done;  // by rank, at the first client
  bool lost = false;          // one does not answer: the processes cannot end together
  bool ending = false;
  std::jthread thread;

  // All of these are called with the mutex held.
  void post(std::uint32_t to, MessageKind kind, std::string_view body = {}) {
    outgoing.emplace_back(to, std::string(1, static_cast<char>(kind)).append(body));
    changed.notify_all();
  }
  void post_to_others(MessageKind kind, std::string_view body = {}) {
    for (std::uint32_t i = 0; i < hosts.size(); ++i) {
      if (i != rank) post(i, kind, body);
    }
  }
  std::string name_of(std::uint32_t client) const {
    return fmt::format("client {} ({})", client, printable(hosts[client]));
  }
  // The first failure is passed on to all clients.
  void note_failure(const std::string& text) {
    if (failure) return;
    failure = text;
    rank == 0 ? post_to_others(MessageKind::failed, text) : post(0, MessageKind::failed, text);
    stop.request_stop();
    changed.notify_all();
  }
  void note_lost(std::uint32_t client) {
    lost = true;
    if (client < is_done.size()) is_done[client] = true;
    note_failure(fmt::format(
        "{} has not answered for {}: see whether it or its network has "
        "failed, or use a longer --client-timeout",
        name_of(client), format_duration(static_cast<double>(options.timeout_ns) * 1e-9)));
  }
  void check() const {
    if (failure) throw Error(ErrorKind::failed, *failure);
    if (stop.stop_requested()) throw Stopped{};
  }

  void communicate();
  void handle(Messages& messages, const Message& message);
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready);
};

namespace {

bool is_about_clocks(const Message& message) {
  if (message.body.empty()) return false;
  const auto kind = static_cast<MessageKind>(message.body.front());
  return kind == MessageKind::ping || kind == MessageKind::pong;
}

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

}  // namespace

template <class Ready>
void Clients::State::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  const Waiting counted(waiting);
  changed.notify_all();
  // Signals set the token without a notification.
  while (!ready()) {
    check();
    changed.wait_for(lock, 20ms);
  }
}

void Clients::State::handle(Messages& messages, const Message& message) {
  if (message.body.empty()) return;
  const std::string_view body = std::string_view(message.body).substr(1);
  switch (static_cast<MessageKind>(message.body.front())) {
    case MessageKind::hello: {
      std::vector<std::string> texts = unpack_texts(body);
      texts.resize(2);
      hosts[message.from] = std::move(texts[0]);
      clocks[message.from] = std::move(texts[1]);
      contributions[message.from].emplace_back();
      break;
    }
    case MessageKind::contribution:
      contributions[message.from].emplace_back(body);
      break;
    case MessageKind::answer:
      answers.emplace_back(body);
      break;
    case MessageKind::ping:
      // Immediately: the time of the answer matters.
      messages.send(message.from, static_cast<char>(MessageKind::pong) + std::string(body) +
                                      bytes_of(kernel_ns()));
      break;
    case MessageKind::pong: {
      constexpr std::size_t kSize = sizeof(std::uint64_t);
      if (body.size() != 2 * kSize) break;
      const std::uint64_t received = kernel_ns();
      const auto sent = number_of(body.substr(0, kSize));
      const auto there = number_of(body.substr(kSize));
      const std::uint64_t half = (received - sent) / 2;
      if (half < error_ns) {
        error_ns = half;
        offset_ns = static_cast<std::int64_t>(there - sent - half);
      }
      if (--pings > 0) post(0, MessageKind::ping, bytes_of(kernel_ns()));
      break;
    }
    case MessageKind::failed:
      note_failure(rank == 0 ? fmt::format("{}: {}", name_of(message.from), body)
                             : std::string(body));
      break;
    case MessageKind::stopped:
      stop.request_stop();
      break;
    case MessageKind::done:
      is_done[message.from] = true;
      break;
    case MessageKind::sign_of_life:
      break;
  }
  changed.notify_all();
}

// The thread that communicates.
void Clients::State::communicate() {
  std::unique_ptr<Messages> messages;
  std::vector<std::uint64_t> heard;  // by rank
  std::unique_lock lock(mutex);
  try {
    lock.unlock();
    messages = start_messages();
    lock.lock();
    rank = messages->rank();
    hosts.resize(messages->count());
    contributions.resize(hosts.size());
    is_done.resize(hosts.size());
    heard.assign(hosts.size(), kernel_ns());
    clocks.resize(hosts.size());
    hosts[rank] = host_name();
    clocks[rank] = clock_id();
    joined = true;
    changed.notify_all();
  } catch (const Error& error) {
    if (!lock.owns_lock()) lock.lock();
    start_failure = error.what();
    changed.notify_all();
    return;
  }
  const std::uint64_t beat = std::min(kSecond, options.timeout_ns / 4);
  std::uint64_t next_beat = 0, clocks_until = 0;
  constexpr std::uint64_t kClocks = 2'000'000;  // after the last message about clocks
  bool told_stop = false;
  try {
    while (!ending || !outgoing.empty()) {
      bool any = false;
      while (!outgoing.empty()) {
        messages->send(outgoing.front().first, std::move(outgoing.front().second));
        outgoing.pop_front();
        any = true;
      }
      while (const std::optional<Message> message = messages->receive()) {
        heard[message->from] = kernel_ns();
        if (is_about_clocks(*message)) clocks_until = heard[message->from] + kClocks;
        handle(*messages, *message);
        any = true;
      }
      const std::uint64_t now = kernel_ns();
      if (now >= next_beat) {
        // A process that was stopped itself must not blame the others.
        if (next_beat > 0 && now > next_beat + options.timeout_ns / 2)
          heard.assign(heard.size(), now);
        next_beat = now + beat;
        rank == 0 ? post_to_others(MessageKind::sign_of_life) : post(0, MessageKind::sign_of_life);
        for (std::uint32_t i = 0; i < heard.size(); ++i) {
          const bool watched = i != rank && (rank == 0 ? !is_done[i] : i == 0);
          if (watched && now - heard[i] > options.timeout_ns) note_lost(i);
        }
      }
      if (stop.stop_requested() && !told_stop && !failure) {
        told_stop = true;
        rank == 0 ? post_to_others(MessageKind::stopped) : post(0, MessageKind::stopped);
      }
      if (any) continue;
      // Seldom during a measurement, often while someone waits, most often while it shows in the
      // error of clocks.
      if (kernel_ns() < clocks_until) {
        changed.wait_for(lock, 10us);
      } else {
        changed.wait_for(lock, waiting > 0 || ending ? 200us : 20ms);
      }
    }
  } catch (const Error& error) {
    lost = true;
    note_failure(error.what());
    outgoing.clear();
    changed.wait(lock, [this] { return ending; });
  }
  const bool together = !lost && !(stop.stop_requested() && !failure);
  lock.unlock();
  if (together) {
    messages->end();
  } else if (lost && rank == 0) {
    messages->abort();
  }
}

Clients::Clients(const ClientsOptions& options) : hosts_{host_name()}, options_(options) {}

Clients::Clients(std::unique_ptr<State> state) : state_(std::move(state)) {
  options_ = state_->options;
  State& shared = *state_;
  {
    std::unique_lock lock(shared.mutex);
    shared.changed.wait(lock, [&] { return shared.joined || !shared.start_failure.empty(); });
    if (!shared.joined) throw_failed(shared.start_failure);
    rank_ = shared.rank;
    hosts_ = shared.hosts;
    if (!first()) {
      shared.post(0, MessageKind::hello,
                  pack_texts(std::array{shared.hosts[rank_], shared.clocks[rank_]}));
    }
  }
  const auto all_hosts = [&](std::vector<std::string>) {
    const std::lock_guard lock(shared.mutex);
    std::vector<std::string> texts = shared.hosts;
    texts.push_back(shared.clocks.front());
    return pack_texts(texts);
  };
  if (count() == 1) return;
  if (first()) {
    // Each hello also counts as a contribution.
    std::unique_lock lock(shared.mutex);
    shared.wait(lock, [&] {
      return std::ranges::all_of(std::span(shared.contributions).subspan(1),
                                 [](const auto& one) { return !one.empty(); });
    });
    for (auto& one : std::span(shared.contributions).subspan(1)) one.pop_front();
  }
  hosts_ = unpack_texts(meet("", all_hosts));
  const std::string clock = std::move(hosts_.back());
  hosts_.pop_back();
  const std::lock_guard lock(shared.mutex);
  shared.hosts = hosts_;
  shared.has_clock_of_first = !clock.empty() && clock == shared.clocks[rank_];
}

std::unique_ptr<Clients> Clients::join(const ClientsOptions& options) {
  auto state = std::make_unique<State>(options);
  State& shared = *state;
  shared.thread = std::jthread([&shared] { shared.communicate(); });
  return std::unique_ptr<Clients>(new Clients(std::move(state)));
}

Clients::~Clients() {
  if (!state_) return;
  finish();
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::stop_token Clients::stop_token() const {
  return state_ ? state_->stop.get_token() : options_.stop;
}

std::string Clients::meet(std::string contribution, const Combine& combine) {
  if (count() == 1) {
    if (stop_token().stop_requested()) throw Stopped{};
    std::vector<std::string> own;
    own.push_back(std::move(contribution));
    return combine(std::move(own));
  }
  State& shared = *state_;
  std::unique_lock lock(shared.mutex);
  shared.check();
  if (!first()) {
    shared.post(0, MessageKind::contribution, contribution);
    shared.wait(lock, [&] { return !shared.answers.empty(); });
    std::string answer = std::move(shared.answers.front());
    shared.answers.pop_front();
    return answer;
  }
  shared.wait(lock, [&] {
    return std::ranges::all_of(std::span(shared.contributions).subspan(1),
                               [](const auto& one) { return !one.empty(); });
  });
  std::vector<std::string> all;
  all.push_back(std::move(contribution));
  for (auto& one : std::span(shared.contributions).subspan(1)) {
    all.push_back(std::move(one.front()));
    one.pop_front();
  }
  lock.unlock();
  std::string answer = combine(std::move(all));
  lock.lock();
  shared.post_to_others(MessageKind::answer, answer);
  return answer;
}

void Clients::meet() {
  meet("", [](std::vector<std::string>) { return std::string(); });
}

std::string Clients::value_of_first(std::string value) {
  return meet(first() ? std::move(value) : std::string(),
              [](std::vector<std::string> all) { return std::move(all.front()); });
}

bool Clients::value_of_first(bool value) {
  return value_of_first(std::string(value ? "1" : "")) == "1";
}

void Clients::agree(const std::optional<Error>& own) {
  const auto first_of = [this](const std::vector<std::string>& texts) {
    const auto failed = std::ranges::find_if(texts, [](const auto& one) { return !one.empty(); });
    if (failed == texts.end()) return std::string();
    const auto client = static_cast<std::size_t>(failed - texts.begin());
    return fmt::format("client {} ({}): {}", client, printable(hosts_[client]), *failed);
  };
  const std::string other = meet(own ? own->what() : "", first_of);
  if (own) throw Error(*own);
  if (!other.empty()) throw_failed(other);
}

StartFigures Clients::start() {
  if (count() == 1) return {};
  State& shared = *state_;
  StartFigures figures;
  if (!first() && !shared.has_clock_of_first) {
    std::unique_lock lock(shared.mutex);
    shared.check();
    shared.error_ns = UINT64_MAX;
    shared.pings = kPings;
    shared.post(0, MessageKind::ping, bytes_of(kernel_ns()));
    shared.wait(lock, [&] { return shared.pings == 0; });
    figures.clock_error_s = static_cast<double>(shared.error_ns) * 1e-9;
  }
  // The answer must reach all clients before the time that it names.
  const std::string answer = meet("", [&](std::vector<std::string>) {
    // Many processes on a few processors take their turns; many machines take a message each.
    constexpr std::uint64_t kLead = 5'000'000, kTurn = 500'000, kMostTurns = 200, kMessage = 10'000;
    const std::uint64_t turns = std::min<std::uint64_t>(count(), kMostTurns) * kTurn;
    return bytes_of(kernel_ns() + kLead + turns + count() * kMessage);
  });
  const std::uint64_t planned = rank_ * options_.stagger_ns;
  const std::uint64_t at =
      number_of(answer) - static_cast<std::uint64_t>(shared.offset_ns) + planned;
  prepare_precise_sleep();
  sleep_until(now_ns() + (at - kernel_ns()), stop_token());
  figures.planned_s = static_cast<double>(planned) * 1e-9;
  // Negative by the difference of the two clocks, at most.
  figures.late_s = static_cast<double>(static_cast<std::int64_t>(kernel_ns() - at)) * 1e-9;
  return figures;
}

bool Clients::any_lost() const {
  if (!state_) return false;
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

void Clients::check_failure() const {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  if (state_->failure) throw Error(ErrorKind::failed, *state_->failure);
}

void Clients::fail(const std::string& text) {
  if (count() == 1) return;
  const std::lock_guard lock(state_->mutex);
  if (!state_->failure) {
    state_->note_failure(first() ? fmt::format("{}: {}", state_->name_of(0), text) : text);
  }
}

void Clients::finish() noexcept {
  if (count() == 1) return;
  constexpr auto kPatience = 500ms;  // mpirun kills a second after a signal
  State& shared = *state_;
  std::unique_lock lock(shared.mutex);
  if (shared.is_done[rank_]) return;
  shared.is_done[rank_] = true;
  if (!first()) {
    shared.post(0, MessageKind::done);
    return;
  }
  const auto all = [&] { return std::ranges::find(shared.is_done, false) == shared.is_done.end(); };
  const bool hurry = shared.stop.stop_requested() && !shared.failure;
  const Waiting counted(shared.waiting);
  shared.changed.notify_all();
  if (hurry) {
    shared.changed.wait_for(lock, kPatience, all);
  } else {
    shared.changed.wait(lock, all);
  }
}

}  // namespace filereel
