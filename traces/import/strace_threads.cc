#include "traces/import/strace_threads.h"

#include <utility>

#include "traces/import/strace_text.h"

namespace filereel {
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

}  // namespace filereel
