#include "traces/record/bpf/bpf_requests.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>

#include "filesets/system/search.h"
#include "traces/calls/call_arguments.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

// Opcodes missing from older headers.
constexpr unsigned kFtruncate = 55;
constexpr unsigned kLinks = IOSQE_IO_LINK | IOSQE_IO_HARDLINK;  // the next one waits
constexpr unsigned kReadvFixed = 60, kWritevFixed = 61;

// Indexes into a ring's own file table are mapped to descriptors from here on.
constexpr int kFirstPlace = 1 << 30;
constexpr std::uint32_t kMostPlaces = 1 << 20;

int descriptor_of_place(std::uint32_t place) {
  return place < kMostPlaces ? kFirstPlace + static_cast<int>(place) : SystemCall::kNone;
}

// Requests that concern sockets, pipes, waits or the ring itself. The order is that of
// linux/io_uring.h.
constexpr unsigned kHarmless[] = {
    0,  6,  7,  9,  10, 11, 12, 13, 14, 15, 16, 20, 25, 26, 27, 29, 31, 32,
    33, 34, 40, 45, 47, 48, 49, 50, 51, 52, 53, 54, 56, 57, 58, 59, 62, 63,
};

struct Unsupported {
  unsigned opcode;
  std::string_view name;
};
constexpr Unsupported kUnsupported[] = {
    {41, "fsetxattr by io_uring"}, {42, "setxattr by io_uring"}, {43, "fgetxattr by io_uring"},
    {44, "getxattr by io_uring"},  {46, "commands of io_uring"}, {64, "commands of io_uring"},
};

// A request that cannot be represented: counted if it succeeds. False if it is not about files.
bool from_other_entry(unsigned opcode, SystemCall& call) {
  if (contains(kHarmless, opcode)) return false;
  const Unsupported* const known = find_or_null(kUnsupported, opcode, &Unsupported::opcode);
  call.call = known ? Call::unsupported : Call::unknown;
  if (known) call.name = known->name;
  const bool by_path = opcode == 42 || opcode == 44;  // the descriptor is no argument
  if (!known || by_path) {
    call.fd = SystemCall::kNone;
    call.file = 0;
  }
  return true;
}

}  // namespace

bool BpfRequests::from_entry(const BpfEventView& event, SystemCall& call) {
  io_uring_sqe entry{};
  if (!event.entry().there || event.entry().bytes.size() != sizeof(entry)) return false;
  event.entry().bytes.copy(reinterpret_cast<char*>(&entry), sizeof(entry));
  const bool fixed = (entry.flags & IOSQE_FIXED_FILE) != 0;
  call.call = Call::submit;
  call.name = "io_uring requests";
  call.fd = fixed ? SystemCall::kNone : entry.fd;
  call.file = event.head().file[0];
  if (fixed) call.fd_path = real_path(event.real(0));
  if ((event.head().flags & EVENT_NO_FILE) != 0) call.fd_path = kNoFilePath;
  // An earlier request may be the one that opens this file.
  if (fixed && call.file == 0) call.fd = descriptor_of_place(static_cast<std::uint32_t>(entry.fd));
  call.length = entry.len;
  if (entry.off != UINT64_MAX) call.offset = entry.off;
  const auto at = [&] {  // paths are relative to the descriptor
    call.dir = std::exchange(call.fd, SystemCall::kNone);
    call.dir_file = std::exchange(call.file, 0);
    call.path = event.string(0).bytes;
    call.offset.reset();
    call.length = 0;
  };
  switch (entry.opcode) {
    case IORING_OP_READ:
    case IORING_OP_READ_FIXED:
      call.requested = Call::read;
      call.flags = static_cast<std::uint32_t>(entry.rw_flags);
      break;
    case IORING_OP_WRITE:
    case IORING_OP_WRITE_FIXED:
      call.requested = Call::write;
      call.flags = static_cast<std::uint32_t>(entry.rw_flags);
      break;
    case IORING_OP_READV:
    case kReadvFixed:
      call.requested = Call::read;
      call.flags = static_cast<std::uint32_t>(entry.rw_flags);
      call.length = event.head().extra;
      break;
    case IORING_OP_WRITEV:
    case kWritevFixed:
      call.requested = Call::write;
      call.length = event.head().extra;
      call.flags = static_cast<std::uint32_t>(entry.rw_flags);
      break;
    case IORING_OP_FSYNC:
      call.requested =
          (entry.fsync_flags & IORING_FSYNC_DATASYNC) != 0 ? Call::fdatasync : Call::fsync;
      break;
    case IORING_OP_SYNC_FILE_RANGE:
      call.call = Call::sync_file_range;
      call.flags = entry.sync_range_flags;
      break;
    case IORING_OP_FALLOCATE:
      call.call = Call::fallocate;
      call.flags = entry.len;
      call.length = entry.addr;
      break;
    case IORING_OP_FADVISE:
      call.call = Call::fadvise;
      call.flags = entry.fadvise_advice;
      break;
    case kFtruncate:
      call.call = Call::ftruncate;
      break;
    case IORING_OP_SPLICE:
      call.call = Call::splice;
      call.fd2 = std::exchange(call.fd, entry.splice_fd_in);
      if ((entry.splice_flags & SPLICE_F_FD_IN_FIXED) != 0) {
        call.fd = descriptor_of_place(static_cast<std::uint32_t>(entry.splice_fd_in));
      }
      call.fd2_path = std::exchange(call.fd_path, {});
      call.file2 = std::exchange(call.file, 0);
      call.offset2 = call.offset;
      call.offset.reset();
      if (entry.splice_off_in != UINT64_MAX) call.offset = entry.splice_off_in;
      call.length = entry.len;
      call.flags = entry.splice_flags;
      break;
    case IORING_OP_CLOSE:
      call.call = Call::close;
      if (entry.file_index != 0) {
        call.fd = descriptor_of_place(entry.file_index - 1);
        call.file = 0;
      }
      break;
    case IORING_OP_OPENAT:
      at();
      call.call = Call::open;
      call.flags = open_flags::from_kernel(entry.open_flags);
      call.mode = entry.len;
      break;
    case IORING_OP_OPENAT2:
      at();
      call.call = Call::open;
      call.flags = open_flags::from_kernel(
          BpfEventView::number<std::uint64_t>(event.copy(0), offsetof(::open_how, flags)));
      call.mode = BpfEventView::number<std::uint64_t>(event.copy(0), offsetof(::open_how, mode));
      call.resolve =
          BpfEventView::number<std::uint64_t>(event.copy(0), offsetof(::open_how, resolve));
      break;
    case IORING_OP_STATX:
      at();
      call.call = Call::stat;
      call.flags = entry.statx_flags;
      call_finish::by_descriptor(call);
      break;
    case IORING_OP_UNLINKAT:
      at();
      call.call = (entry.unlink_flags & AT_REMOVEDIR) != 0 ? Call::rmdir : Call::unlink;
      call.flags = entry.unlink_flags;
      break;
    case IORING_OP_MKDIRAT:
      at();
      call.call = Call::mkdir;
      call.mode = entry.len;
      break;
    case IORING_OP_RENAMEAT:
    case IORING_OP_LINKAT:
      at();
      call.call = entry.opcode == IORING_OP_LINKAT ? Call::link : Call::rename;
      call.flags = entry.rename_flags;
      call.path2 = event.string(1).bytes;
      call.dir2 = static_cast<int>(entry.len);
      break;
    case IORING_OP_SYMLINKAT:
      at();
      call.call = Call::symlink;
      call.text = std::exchange(call.path, std::string(event.string(1).bytes));
      break;
    default:
      return from_other_entry(entry.opcode, call);
  }
  return true;
}

bool BpfRequests::from_control_block(const BpfEventView& event, SystemCall& call) {
  iocb block{};
  if (!event.entry().there || event.entry().bytes.size() != sizeof(block)) return false;
  event.entry().bytes.copy(reinterpret_cast<char*>(&block), sizeof(block));
  call.call = Call::submit;
  call.name = "io_submit";
  call.fd = static_cast<int>(block.aio_fildes);
  call.file = event.head().file[0];
  if ((event.head().flags & EVENT_NO_FILE) != 0) call.fd_path = kNoFilePath;
  call.length = block.aio_nbytes;
  call.offset = static_cast<std::uint64_t>(block.aio_offset);
  call.flags = static_cast<std::uint32_t>(block.aio_rw_flags);
  switch (block.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
      call.requested = Call::read;
      return true;
    case IOCB_CMD_PWRITE:
      call.requested = Call::write;
      return true;
    case IOCB_CMD_PREADV:
      call.requested = Call::read;
      break;
    case IOCB_CMD_PWRITEV:
      call.requested = Call::write;
      break;
    case IOCB_CMD_FSYNC:
      call.requested = Call::fsync;
      break;
    case IOCB_CMD_FDSYNC:
      call.requested = Call::fdatasync;
      break;
    default:
      return false;
  }
  call.length = event.head().extra;
  return true;
}

void BpfRequests::submitted(const BpfEventView& event, SystemCall call) {
  call.request = event.argument(0);
  if (event.entry_kind() == 0) return take_entry(event, std::move(call));
  Announced request;
  request.known = from_control_block(event, call);
  request.call = std::move(call);
  announced_[request.call.thread].push_back(std::move(request));
}

void BpfRequests::take_entry(const BpfEventView& event, SystemCall call) {
  const auto flags =
      BpfEventView::number<std::uint8_t>(event.entry(), offsetof(io_uring_sqe, flags));
  std::uint64_t& link = links_[call.thread];
  const std::uint64_t before = std::exchange(link, flags & kLinks ? call.request : 0);
  if (in_flight_.contains(call.request)) {  // the completion of an earlier one was missed
    give_held(call.request);
    is_over(call.request);
    calls_.erase(call.request);
  }
  in_flight_.insert(call.request);
  if (!from_entry(event, call)) return;
  if (call.call != Call::submit) {
    calls_[call.request] = std::move(call);
  } else if (before != call.request && in_flight_.contains(before)) {
    followers_[before] = call.request;
    held_[call.request] = std::move(call);
  } else {
    give(call);
  }
}

void BpfRequests::give_held(std::uint64_t request) {
  const auto found = held_.find(request);
  if (found == held_.end()) return;
  give(found->second);
  held_.erase(found);
}

// Requests that wait for this one can start.
void BpfRequests::is_over(std::uint64_t request) {
  in_flight_.erase(request);
  const auto found = followers_.find(request);
  if (found == followers_.end()) return;
  give_held(found->second);
  followers_.erase(found);
}

void BpfRequests::give(const SystemCall& call) {
  resolver_.entered(call);
  resolver_.returned(call);
}

void BpfRequests::give(Announced& announced) {
  if (announced.given || !announced.known) return;
  announced.given = true;
  give(announced.call);
}

void BpfRequests::accepted(const SystemCall& submission, std::int64_t count) {
  const auto found = announced_.find(submission.thread);
  if (found == announced_.end()) return;
  for (Announced& announced : found->second) {
    // From an earlier io_submit whose return was missed: it may have accepted all.
    const bool earlier = announced.call.enter_ns < submission.enter_ns;
    if (!earlier && count-- <= 0) break;
    give(announced);
  }
  announced_.erase(found);
}

void BpfRequests::ended(std::uint32_t thread) {
  links_.erase(thread);
  announced_.erase(thread);
}

void BpfRequests::completed(const BpfEventView& event, const SystemCall& at) {
  constexpr unsigned kHarvest = 2;
  if (event.entry_kind() == kHarvest) return reaped(event, at);
  end(at, event.argument(0), event);
}

void BpfRequests::reaped(const BpfEventView& event, const SystemCall& at) {
  if (!event.entry().there) return builder_.lost("request completions that could not be read");
  SystemCall call = at;
  call.call = Call::complete;
  for (std::size_t i = 0; i + sizeof(io_event) <= event.entry().bytes.size();
       i += sizeof(io_event)) {
    call.request = BpfEventView::number<std::uint64_t>(event.entry(), i + offsetof(io_event, obj));
    call.result = BpfEventView::number<std::int64_t>(event.entry(), i + offsetof(io_event, res));
    // It may complete before io_submit returns.
    for (auto& [thread, waiting] : announced_) {
      for (Announced& announced : waiting) {
        if (announced.call.request == call.request && announced.call.process == call.process)
          give(announced);
      }
    }
    resolver_.returned(call);
  }
}

void BpfRequests::end(const SystemCall& at, std::uint64_t request, const BpfEventView& event) {
  give_held(request);
  SystemCall call = at;
  const auto known = calls_.find(request);
  if (known != calls_.end()) {
    call = std::move(known->second);
    calls_.erase(known);
    call.exit_ns = std::max(at.exit_ns, call.enter_ns);
  } else {
    call.call = Call::complete;
    call.request = request;
  }
  call.result = event.head().result;
  // Opened into the ring's own file table.
  if (event.head().file[0] != 0 && event.head().extra < kMostPlaces) {
    call.result = descriptor_of_place(static_cast<std::uint32_t>(event.head().extra));
    call.result_file = event.head().file[0];
  }
  resolver_.returned(call);
  is_over(request);
}

}  // namespace filereel
