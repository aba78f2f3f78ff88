// A child's first lines may stand before the line that says how its parent's call ended. Here it is
// found out whose child it is, so that the resolver knows every thread before its first call.
#include <algorithm>

#include "traces/import/strace_import.h"

namespace filereel {
namespace {

// Beyond these it is guessed.
constexpr std::size_t kMostHeldLines = 10'000;

}  // namespace

std::vector<StraceThread*> StraceImport::forking() {
  std::vector<StraceThread*> parents;
  for (const auto& [id, thread] : threads_.all()) {
    if (thread.held || thread.pending.forked || thread.pending.call == nullptr) continue;
    if (thread.pending.call->call == Call::fork) parents.push_back(threads_.find(id));
  }
  return parents;
}

// False if several threads could be its parent.
bool StraceImport::introduce(StraceThread& thread) {
  if (thread.introduced) return true;
  if (!threads_.take_announced(thread.id)) {
    const std::vector<StraceThread*> parents = forking();
    if (parents.size() > 1) return false;
    if (parents.size() == 1) fork_early(*parents[0], thread);
  }
  thread.introduced = true;
  return true;
}

void StraceImport::fork_early(StraceThread& parent, StraceThread& child) {
  parent.pending.forked = true;
  const StraceReader::Outcome outcome =
      reader_.read_beginning(*parent.pending.call, parent.pending.text);
  if (outcome != StraceReader::Outcome::read) return;
  SystemCall& call = reader_.calls()[0];
  call.thread = parent.id;
  call.enter_ns = parent.pending.enter_ns;
  call.exit_ns = clock_.now();
  call.result = child.id;
  resolver_.returned(call);
}

void StraceImport::forked(StraceThread& parent, const SystemCall& call,
                          const StraceThread::Pending* pending) {
  if (pending != nullptr && pending->forked) return;  // see fork_early
  resolver_.returned(call);
  if (call.result <= 0 || call.result > UINT32_MAX || call.thread != parent.id) return;
  const auto child = static_cast<std::uint32_t>(call.result);
  threads_.announce(child);
}

void StraceImport::hold(StraceThread& thread, std::string_view text, std::uint64_t at_ns) {
  thread.lines.push_back({std::string(text), at_ns});
  if (++held_lines_ > kMostHeldLines) settle(true);
}

// Lets those threads go on whose parent is known by now.
void StraceImport::settle(bool at_any_price) {
  if (held_lines_ == 0) return;
  for (const std::uint32_t id : threads_.held()) {
    StraceThread* thread = threads_.find(id);
    if (thread == nullptr || !thread->held) continue;
    if (!introduce(*thread)) {
      if (!at_any_price) continue;
      fork_early(*forking()[0], *thread);
      thread->introduced = true;
    }
    release(id);
  }
}

void StraceImport::release(std::uint32_t id) {
  StraceThread* thread = threads_.find(id);
  thread->held = false;
  const std::vector<StraceThread::Held> lines = std::exchange(thread->lines, {});
  held_lines_ -= lines.size();
  for (const StraceThread::Held& held : lines) {
    thread = threads_.find(id);  // it may have ended
    if (thread == nullptr) return;
    if (!take(*thread, read_strace_line(held.line), held.at_ns)) garbled();
  }
}

}  // namespace filereel
