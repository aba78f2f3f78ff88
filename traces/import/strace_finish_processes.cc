// What the letters of StraceCall cannot say of calls that make processes and descriptors.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/wait.h>

#include "traces/import/strace_finish.h"
#include "traces/import/strace_reader.h"
#include "traces/import/strace_text.h"

namespace filereel::strace_finish {
namespace {

constexpr std::uint64_t kMfdCloexec = 1;

}  // namespace

bool unshared(StraceReader& reader, SystemCall& call) {
  call.flags = strace_value(reader.arguments()[0]).value_or(0);
  return true;
}

bool not_followed(StraceReader& reader, SystemCall&) {
  if (reader.succeeded()) reader.doubt(StraceDoubt::not_followed);
  return false;
}

// What it is, that process knows.
bool descriptor_of_another(StraceReader& reader, SystemCall& call) {
  not_followed(reader, call);
  return true;
}

// clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f54) = 7
bool clone(StraceReader& reader, SystemCall& call) {
  constexpr std::string_view kFlags = "flags=";
  for (std::size_t i = 0; i < reader.arguments().count(); ++i) {
    const std::string_view text = reader.arguments()[i];
    if (text.starts_with(kFlags)) call.flags = strace_value(text.substr(kFlags.size())).value_or(0);
  }
  return true;
}

// clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, …} => {parent_tid=[7]}, 88) = 7
bool clone3(StraceReader& reader, SystemCall& call) {
  const std::string_view text = reader.arguments()[0];
  call.flags = strace_value(strace_member(text, "flags")).value_or(0);
  const std::size_t made = text.find("pidfd=[");
  if ((call.flags & CLONE_PIDFD) == 0 || !reader.succeeded() || made == std::string_view::npos) {
    return true;
  }
  int fd = SystemCall::kNone;
  std::string path;
  if (!strace_descriptor(text.substr(made + 7), fd, path)) return true;
  SystemCall& descriptor = reader.another();
  descriptor.call = Call::new_descriptor;
  descriptor.flags = O_CLOEXEC;
  descriptor.result = fd;
  return true;
}

bool waited(StraceReader& reader, SystemCall& call) {
  return reader.succeeded() && call.result > 0;  // 0: none has ended
}

// waitid(P_PID, 7, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7, …}, WEXITED, NULL) = 0
bool waited_id(StraceReader& reader, SystemCall& call) {
  const std::uint64_t pid = reader.value(strace_member(reader.arguments()[2], "si_pid"));
  if (!reader.succeeded() || pid == 0) return false;
  if ((strace_value(reader.arguments()[3]).value_or(0) & WNOWAIT) != 0) return false;
  call.result = static_cast<std::int64_t>(pid);
  return true;
}

// With a descriptor the signals of that one change.
bool changed_signals(StraceReader&, SystemCall& call) {
  if (call.fd != -1) return false;
  call.fd = SystemCall::kNone;
  return true;
}

bool hidden_ring(StraceReader& reader, SystemCall&) {
  if (reader.succeeded()) reader.doubt(StraceDoubt::hidden_ring);
  return true;
}

bool memory_file(StraceReader& reader, SystemCall& call) {
  if ((reader.value(std::size_t{1}) & kMfdCloexec) != 0) call.flags = O_CLOEXEC;
  return true;
}

bool performance(StraceReader& reader, SystemCall& call) {
  const std::uint64_t flags = strace_value(reader.arguments()[4]).value_or(0);
  if ((flags & PERF_FLAG_FD_CLOEXEC) != 0) call.flags = O_CLOEXEC;
  return true;
}

// A file by its handle: with -y its path is known.
bool by_handle(StraceReader&, SystemCall& call) {
  if (!call.result_path.starts_with('/')) return true;
  call.call = Call::open;
  call.path = call.result_path;
  return true;
}

bool pair_at(StraceReader& reader, SystemCall& call, std::size_t number) {
  if (!reader.succeeded()) return false;
  StraceItems items(reader.arguments()[number]);
  std::string_view item;
  std::string path;
  if (!items.next(item) || !strace_descriptor(item, call.fd, path)) return false;
  if (!items.next(item) || !strace_descriptor(item, call.fd2, path)) return false;
  call.flags &= O_CLOEXEC;
  return true;
}

}  // namespace filereel::strace_finish
