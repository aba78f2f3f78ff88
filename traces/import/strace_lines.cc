#include "traces/import/strace_lines.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "traces/calls/call_table.h"
#include "traces/import/strace_lexer.h"
#include "traces/import/strace_reader.h"
#include "traces/import/strace_text.h"

namespace filereel {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;
constexpr std::uint64_t kEnd = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t StraceClock::step(const StraceStamp& stamp) {
  const std::uint64_t before = last_;
  const bool absolute = stamp.kind != StraceStamp::Kind::none;
  const bool day = stamp.kind == StraceStamp::Kind::day;
  // Threads write concurrently: a line of the day before may come after midnight.
  if (day && past_midnight_ && before < kHour && stamp.at_ns > 23 * kHour) return 0;
  if (absolute) last_ = stamp.at_ns;
  if (!timed_) return 0;
  if (stamp.since_last_ns && (!absolute || stamp.whole_seconds)) return *stamp.since_last_ns;
  if (stamp.at_ns >= before) return stamp.at_ns - before;
  if (day && before - stamp.at_ns > 12 * kHour) {
    past_midnight_ = true;
    return stamp.at_ns + 24 * kHour - before;
  }
  return 0;  // the clock was set back
}

std::uint64_t StraceClock::at(const StraceStamp& stamp) {
  const bool absolute = stamp.kind != StraceStamp::Kind::none;
  if (!absolute && !stamp.since_last_ns) return now_;
  if (!timed_ && stamp.kind == StraceStamp::Kind::epoch) began_ = stamp.at_ns;
  if (stamp.since_last_ns || !stamp.whole_seconds) whole_seconds_ = false;
  const std::uint64_t passed = step(stamp);
  timed_ = true;
  if (passed <= kLongest) now_ = std::min(now_ + passed, kEnd);
  return now_;
}

namespace {

// Every dynamically linked program calls "set_tid_address(0x7f54d2feea10) = 12121" early.
std::uint32_t number_of_lone_thread(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = beginning.find('\n');
    const StraceLine line = read_strace_line(beginning.substr(0, end));
    if (line.thread) break;
    if (line.kind == StraceLine::Kind::call && line.name == "set_tid_address") {
      StraceArguments arguments;
      if (arguments.split(line.text) && arguments.result().value > 0 &&
          arguments.result().value < (1 << 22)) {
        return static_cast<std::uint32_t>(arguments.result().value);
      }
    }
    if (end == std::string_view::npos) break;
    beginning.remove_prefix(end + 1);
  }
  return 1;
}

}  // namespace

StraceThreads::StraceThreads(std::string_view beginning)
    : lone_(number_of_lone_thread(beginning)) {}

StraceThread& StraceThreads::add(std::uint32_t id) {
  StraceThread& thread = threads_[id];
  thread.id = id;
  return thread;
}

StraceThread* StraceThreads::find(std::uint32_t id) {
  if (last_ != nullptr && last_->id == id) return last_;
  const auto at = threads_.find(id);
  return at == threads_.end() ? nullptr : &at->second;
}

StraceThread& StraceThreads::of(const StraceLine& line) {
  if (!line.thread) {
    if (threads_.size() == 1) {
      last_ = &threads_.begin()->second;
    } else if (threads_.empty() || last_ == nullptr) {
      last_ = &add(lone_);
      lone_seen_ = true;
    }
    return *last_;
  }
  std::uint32_t id = *line.thread;
  if (lone_known_as_ == id && lone_known_as_ != 0) id = lone_;
  if (StraceThread* known = find(id)) {
    last_ = known;
  } else if (lone_seen_ && lone_known_as_ == 0 && threads_.contains(lone_) &&
             !announced_.contains(id)) {
    lone_known_as_ = id;
    last_ = find(lone_);
  } else {
    announced_.erase(id);
    last_ = &add(id);
  }
  return *last_;
}

void StraceThreads::attached(std::uint32_t id) {
  if (find(id) == nullptr) add(id);
}

void StraceThreads::announce(std::uint32_t id) {
  if (find(id) == nullptr) announced_.insert(id);
}

void StraceThreads::erase(StraceThread& thread) {
  if (thread.id == lone_) {
    lone_seen_ = false;
    lone_known_as_ = 0;
  }
  last_ = nullptr;
  threads_.erase(std::uint32_t{thread.id});
}

namespace {

constexpr std::size_t kMostLinks = 100'000;

// Whether a line may show a link; a fast check.
bool may_name_a_link(std::string_view line) {
  const std::string_view before = line.substr(0, line.find('('));
  return before.find("link") != std::string_view::npos ||
         before.find("rename") != std::string_view::npos;
}

// The absolute path if known: with its '/', or as shown by -y; otherwise the last name.
std::string known_name(const std::string& path, const std::string& directory) {
  if (path.starts_with('/')) return path;
  if (directory.starts_with('/')) return directory + "/" + path;
  return path.substr(path.rfind('/') + 1);
}

// Whether the trace may have created `path` or a directory above it.
bool is_made(std::string path, const std::unordered_set<std::string>& made) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    if (made.contains(path) || made.contains(path.substr(slash + 1))) return true;
    path.resize(slash);
  }
  return false;
}

}  // namespace

std::vector<StraceLink> find_strace_links(LineReader& input, const std::stop_token& stop) {
  std::vector<StraceLink> links;
  std::unordered_set<std::string> made;  // absolute paths, or last names
  StraceReader reader;
  for (std::string_view text; input.next(text) && links.size() < kMostLinks;) {
    if (input.line() % kLinesBetweenStops == 0 && stop.stop_requested()) break;
    if (!may_name_a_link(text)) continue;
    const StraceLine line = read_strace_line(text);
    const bool begins = line.kind == StraceLine::Kind::unfinished;
    if (line.kind != StraceLine::Kind::call && !begins) continue;
    const CallRow* known = find_call(line.name);
    if (known == nullptr) continue;
    const StraceReader::Outcome outcome =
        begins ? reader.read_beginning(*known, line.text) : reader.read(*known, line.text);
    if (outcome != StraceReader::Outcome::read) continue;
    const SystemCall& call = reader.calls().front();
    if (call.call == Call::symlink) made.insert(known_name(call.path, call.dir_path));
    if (call.call == Call::rename || call.call == Call::link) {
      made.insert(known_name(call.path2, call.dir2_path));
    }
    if (call.call != Call::readlink || begins || call.result <= 0 || call.text.empty()) continue;
    std::string path = known_name(call.path, call.dir_path);
    if (!path.starts_with('/') || path.find("/..") != std::string::npos) continue;
    if (!links.empty() && links.back().path == path) continue;
    links.push_back({std::move(path), call.text});
  }
  std::erase_if(links, [&](const StraceLink& link) { return is_made(link.path, made); });
  return links;
}

}  // namespace filereel
