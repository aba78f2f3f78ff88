// The problem. MPI alone gives no answer to a process that died or hangs: a barrier then waits for
// ever. And it may be used by one thread only (Messages), while the caller replays.
//
// So the thread here is the only one that calls MPI, with calls that never wait, and all else is
// queues under one mutex. It looks for messages every 20 ms during a measurement, so that it takes
// hardly any processor from it, every 0.2 ms while a caller waits, and every 0.01 ms while clocks
// are synchronised, where the pause would show as error. Each client tells the first one that it
// lives, and the first one tells all. Without a sign of life for the timeout, a client counts as
// lost, and the run ends with a failure that names it. A process that was itself stopped for a
// while does not blame the others (show_life).
//
// A star, not a mesh: all messages pass through the first client, so that failures have one order,
// and the first failure is the one that all report (note_failure). Texts in queues have no names.
// They are matched by their order alone, which is why all clients must meet in the same order, and
// why the end of a client that others still wait for is a failure (note_early_end).
//
// Ownership: the members of State that change are guarded by the mutex, except the stop source,
// which needs none. The communicating thread holds it while it works, and releases it only to
// pause; callers wait on `changed`, and look again every 20 ms, because signals set the stop token
// without a notification.
#include "replay/clients/clients_state.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <span>

#include <boost/filesystem.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSecond = 1'000'000'000;

// The same for processes whose clocks (kernel_ns) are the same: of one start of a kernel, in one
// time namespace. "" if unknown.
std::string clock_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  boost::system::error_code error;
  const auto names = boost::filesystem::read_symlink("/proc/self/ns/time", error);
  return boot.empty() ? "" : boot + " " + names.string();
}

bool is_about_clocks(const Message& message) {
  if (message.body.empty()) return false;
  const auto kind = static_cast<MessageKind>(message.body.front());
  return kind == MessageKind::ping || kind == MessageKind::pong;
}

}  // namespace

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.c_str();
}

void Clients::State::note_failure(const std::string& text) {
  if (failure) return;
  failure = text;
  announce(MessageKind::failed, text);
  stop.request_stop();
  changed.notify_all();
}

void Clients::State::note_lost(std::uint32_t client) {
  lost = true;
  if (client < is_done.size()) is_done[client] = true;
  note_failure(fmt::format(
      "{} has not answered for {}: see whether it or its network has "
      "failed, or use a longer --client-timeout",
      name_of(client), format_duration(static_cast<double>(options.timeout_ns) * 1e-9)));
}

void Clients::State::note_early_end(std::uint32_t client) {
  note_failure(
      fmt::format("{} has ended its part of the run: use the same plan and options "
                  "everywhere",
                  name_of(client)));
}

std::vector<std::string> Clients::State::take_contributions(std::unique_lock<std::mutex>& lock) {
  for (std::uint32_t i = 1; i < contributions.size(); ++i) wait_for(lock, contributions[i], i);
  std::vector<std::string> all(1);
  for (auto& one : std::span(contributions).subspan(1)) {
    all.push_back(std::move(one.front()));
    one.pop_front();
  }
  return all;
}

Clients::State::~State() {
  {
    const std::lock_guard lock(mutex);
    ending = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
}

std::string Clients::State::name_of(std::uint32_t client) const {
  return fmt::format("client {} ({})", client, printable(hosts[client]));
}

void Clients::State::post_to_others(MessageKind kind, std::string_view body) {
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    if (i != rank) post(i, kind, body);
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

namespace {

// The work of the thread that communicates. The mutex is held, except while it pauses.
class Communication {
 public:
  Communication(Clients::State& shared, Messages& messages)
      : shared_(shared),
        messages_(messages),
        heard_(shared.hosts.size(), kernel_ns()),
        beat_(std::min(kSecond, shared.options.timeout_ns / 4)) {}

  void run(std::unique_lock<std::mutex>& lock) {
    while (!shared_.ending || !shared_.outgoing.empty()) {
      const bool any = exchange();
      show_life();
      pass_on_stop();
      if (!any) shared_.changed.wait_for(lock, pause());
    }
  }

 private:
  // Returns whether there was a message.
  bool exchange() {
    bool any = false;
    for (; !shared_.outgoing.empty(); shared_.outgoing.pop_front()) {
      messages_.send(shared_.outgoing.front().first, std::move(shared_.outgoing.front().second));
      any = true;
    }
    while (const std::optional<Message> message = messages_.receive()) {
      constexpr std::uint64_t kClocks = 2'000'000;  // after the last message about clocks
      heard_[message->from] = kernel_ns();
      if (is_about_clocks(*message)) clocks_until_ = heard_[message->from] + kClocks;
      shared_.handle(messages_, *message);
      any = true;
    }
    return any;
  }

  // Sends a sign of life when it is due, and looks for those of others.
  void show_life() {
    const std::uint64_t now = kernel_ns();
    if (now < next_beat_) return;
    const std::uint64_t timeout = shared_.options.timeout_ns;
    // A process that was stopped itself must not blame the others.
    if (next_beat_ > 0 && now > next_beat_ + timeout / 2) heard_.assign(heard_.size(), now);
    next_beat_ = now + beat_;
    shared_.announce(MessageKind::sign_of_life);
    for (std::uint32_t i = 0; i < heard_.size(); ++i) {
      const bool watched = i != shared_.rank && (first() ? !shared_.is_done[i] : i == 0);
      if (watched && now - heard_[i] > timeout) shared_.note_lost(i);
    }
  }

  void pass_on_stop() {
    if (!shared_.stop.stop_requested() || told_stop_ || shared_.failure) return;
    told_stop_ = true;
    shared_.announce(MessageKind::stopped);
  }

  // Seldom during a measurement, often while someone waits, most often while it shows in the error
  // of clocks.
  std::chrono::microseconds pause() const {
    if (kernel_ns() < clocks_until_) return 10us;
    return shared_.waiting > 0 || shared_.ending ? 200us : 20ms;
  }

  bool first() const { return shared_.rank == 0; }

  Clients::State& shared_;
  Messages& messages_;
  std::vector<std::uint64_t> heard_;  // by rank
  std::uint64_t beat_, next_beat_ = 0, clocks_until_ = 0;
  bool told_stop_ = false;
};

}  // namespace

void Clients::State::communicate() {
  std::unique_ptr<Messages> messages;
  std::string why;
  try {
    messages = start_messages();
  } catch (const std::exception& error) {
    why = failure_text(error);
  }
  std::unique_lock lock(mutex);
  changed.notify_all();
  start_failure = why;
  if (!messages) return;
  rank = messages->rank();
  for (auto* texts : {&hosts, &clocks}) texts->resize(messages->count());
  contributions.resize(hosts.size());
  is_done.resize(hosts.size());
  hosts[rank] = host_name();
  clocks[rank] = clock_id();
  joined = true;
  try {
    Communication(*this, *messages).run(lock);
  } catch (const std::exception& error) {
    lost = true;
    note_failure(failure_text(error));
    outgoing.clear();
    is_done.assign(is_done.size(), true);  // nobody can be heard any more
    changed.notify_all();
    changed.wait(lock, [this] { return ending; });
  }
  const bool together = !lost && !(stop.stop_requested() && !failure);
  // The caller of join() reports the failure, which ends the others, too.
  const bool aborts = lost && rank == 0 && all_joined;
  lock.unlock();
  if (together) {
    messages->end();
  } else if (aborts) {
    messages->abort();
  }
}

}  // namespace filereel
