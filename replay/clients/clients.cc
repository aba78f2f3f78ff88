#include "replay/clients/clients.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "replay/clients/clients_state.h"
#include "replay/measure/clock.h"

namespace filereel {

std::string pack_texts(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += bytes_of(text.size());
    all += text;
  }
  return all;
}

std::vector<std::string> unpack_texts(std::string_view bytes) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  std::vector<std::string> texts;
  while (bytes.size() >= kLength) {
    const std::uint64_t size = number_of(bytes.substr(0, kLength));
    bytes.remove_prefix(kLength);
    if (size > bytes.size()) break;
    texts.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return texts;
}

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPings = 8;

}  // namespace

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
    shared.take_contributions(lock);
  }
  hosts_ = unpack_texts(meet("", all_hosts));
  const std::string clock = std::move(hosts_.back());
  hosts_.pop_back();
  const std::lock_guard lock(shared.mutex);
  shared.hosts = hosts_;
  shared.all_joined = true;
  shared.has_clock_of_first = !clock.empty() && clock == shared.clocks[rank_];
}

std::unique_ptr<Clients> Clients::join(const ClientsOptions& options) {
  auto state = std::make_unique<State>(options);
  State& shared = *state;
  shared.thread = std::jthread([&shared] { shared.communicate(); });
  return std::unique_ptr<Clients>(new Clients(std::move(state)));
}

Clients::~Clients() {
  if (state_) finish();
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
    shared.wait_for(lock, shared.answers, 0);
    std::string answer = std::move(shared.answers.front());
    shared.answers.pop_front();
    return answer;
  }
  std::vector<std::string> all = shared.take_contributions(lock);
  all.front() = std::move(contribution);
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

StartFigures Clients::start(const std::function<void()>& prepare) {
  const std::uint64_t planned = rank_ * options_.stagger_ns;
  if (planned == 0) prepare();
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
  constexpr std::uint64_t kLead = 5'000'000;
  // The answer must reach all clients before the time that it names.
  const std::string answer = meet("", [&](std::vector<std::string>) {
    // Many processes on a few processors take their turns; many machines take a message each.
    constexpr std::uint64_t kTurn = 500'000, kMostTurns = 200, kMessage = 10'000;
    const std::uint64_t turns = std::min<std::uint64_t>(count(), kMostTurns) * kTurn;
    return bytes_of(kernel_ns() + kLead + turns + count() * kMessage);
  });
  const std::uint64_t at =
      number_of(answer) - static_cast<std::uint64_t>(shared.offset_ns) + planned;
  prepare_precise_sleep();
  const auto wait_until = [this](std::uint64_t time) {
    sleep_until(now_ns() + (time - kernel_ns()), stop_token());
  };
  if (planned > 0) {
    wait_until(at - kLead);
    prepare();
  }
  wait_until(at);
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
  if (!state_->failure && !state_->is_done[rank_]) {
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
  // The reason before the end, which would be a failure without one.
  if (shared.stop.stop_requested() && !shared.failure) shared.announce(MessageKind::stopped);
  shared.announce(MessageKind::done);
  if (!first()) return;
  const auto all = [&] { return !contains(shared.is_done, false); };
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
