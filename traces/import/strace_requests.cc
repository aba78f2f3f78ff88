// Calls in strace's output that stand for several: the requests of io_submit and io_getevents, and
// the descriptor created by clone3.
#include <utility>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sched.h>

#include "traces/import/strace_reader.h"
#include "traces/import/strace_text.h"

namespace filereel {
namespace {

// The program's own name for a request, unique only within its context. Requests with the same name
// end in the order of their starts.
std::uint64_t request(std::uint64_t context, std::uint64_t name) {
  return name ^ context * 0x9e3779b97f4a7c15;
}

}  // namespace

bool StraceReader::read_others(bool succeeded) {
  const Call call = calls_[0].call;
  const std::string_view name = calls_[0].name;
  if (!succeeded) return call != Call::submit && call != Call::complete;
  if (call == Call::submit) read_submitted();
  if (call == Call::complete) read_completed();
  if (call == Call::fork) read_process_descriptor();
  if (name == "io_uring_setup") doubt(StraceDoubt::hidden_ring);
  // Only the process that the descriptor was taken from knows its file.
  if (name == "pidfd_getfd") doubt(StraceDoubt::not_followed);
  return true;
}

void StraceReader::add(SystemCall&& call) {
  if (count_ == calls_.size()) calls_.emplace_back();
  calls_[count_++] = std::move(call);
}

// io_submit(ctx, n, [{aio_data=7, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, …}, …]) = n
void StraceReader::read_submitted() {
  const std::uint64_t context = calls_[0].address;
  count_ = 0;  // the line has no call of its own
  StraceItems items(arguments_[2]);
  std::int64_t left = result().value;
  for (std::string_view item; left > 0 && items.next(item); --left) {
    if (!item.starts_with('{')) continue;
    SystemCall one;
    one.call = Call::submit;
    one.name = calls_[0].name;
    const std::string_view buffer = strace_member(item, "aio_buf");
    one.length = value(strace_member(item, "aio_nbytes"));
    one.offset = value(strace_member(item, "aio_offset"));
    if (const auto flags = strace_member(item, "aio_rw_flags"); !flags.empty()) {
      one.flags = strace_flags(flags);
    }
    switch (value(strace_member(item, "aio_lio_opcode"))) {
      case IOCB_CMD_PREAD:
        one.requested = Call::read;
        break;
      case IOCB_CMD_PWRITE:
        one.requested = Call::write;
        break;
      case IOCB_CMD_PREADV:
        one.requested = Call::read;
        one.length = sum_of_buffers(buffer, 0);
        break;
      case IOCB_CMD_PWRITEV:
        one.requested = Call::write;
        one.length = sum_of_buffers(buffer, 0);
        break;
      case IOCB_CMD_FSYNC:
        one.requested = Call::fsync;
        break;
      case IOCB_CMD_FDSYNC:
        one.requested = Call::fdatasync;
        break;
      default:
        continue;
    }
    one.request = request(context, value(strace_member(item, "aio_data")));
    if (!strace_descriptor(strace_member(item, "aio_fildes"), one.fd, one.fd_path)) continue;
    add(std::move(one));
  }
}

// io_getevents(ctx, 1, 4, [{data=0x7, obj=0x7ffc, res=50, res2=0}, …], NULL) = 1
void StraceReader::read_completed() {
  const std::uint64_t context = calls_[0].address;
  count_ = 0;  // the line has no call of its own
  StraceItems items(arguments_[3]);
  for (std::string_view item; items.next(item);) {
    if (!item.starts_with('{')) continue;
    SystemCall one;
    one.call = Call::complete;
    one.request = request(context, value(strace_member(item, "data")));
    one.result = static_cast<std::int64_t>(value(strace_member(item, "res")));
    add(std::move(one));
  }
}

// clone3({flags=CLONE_PIDFD|…, exit_signal=SIGCHLD, …} => {parent_tid=[7], pidfd=[9]}, 88) = 7
void StraceReader::read_process_descriptor() {
  const std::string_view text = arguments_[0];
  constexpr std::string_view kMade = "pidfd=[";
  const std::size_t made = text.find(kMade);
  if ((calls_[0].flags & CLONE_PIDFD) == 0 || made == std::string_view::npos) {
    return;
  }
  int fd = SystemCall::kNone;
  std::string path;
  const std::string_view rest = text.substr(made + kMade.size());
  if (!strace_descriptor(rest.substr(0, rest.find(']')), fd, path)) return;
  SystemCall descriptor = calls_[0];
  descriptor.call = Call::new_descriptor;
  descriptor.flags = O_CLOEXEC;
  descriptor.result = fd;
  add(std::move(descriptor));
}

}  // namespace filereel
