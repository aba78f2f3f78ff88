#include "traces/import/strace_finish.h"

#include <algorithm>
#include <climits>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "traces/calls/call_forms.h"
#include "traces/import/strace_reader.h"
#include "traces/import/strace_text.h"
#include "traces/operation.h"

namespace filereel::strace_finish {
namespace {

std::uint64_t nanoseconds(std::string_view seconds, std::string_view part, std::uint64_t unit) {
  return strace_value(seconds).value_or(0) * 1'000'000'000 + strace_value(part).value_or(0) * unit;
}

// {tv_sec=1, tv_nsec=2}, {tv_sec=1, tv_usec=2}, UTIME_NOW, UTIME_OMIT.
std::uint64_t time_of(std::string_view text) {
  if (text.starts_with("UTIME_NOW")) return kTimeNow;
  if (text.starts_with("UTIME_OMIT")) return kTimeOmit;
  const std::string_view seconds = strace_member(text, "tv_sec");
  const std::string_view micro = strace_member(text, "tv_usec");
  if (!micro.empty()) return nanoseconds(seconds, micro, 1000);
  const std::string_view nano = strace_member(text, "tv_nsec");
  const std::uint64_t part = strace_value(nano).value_or(0);
  if (part == UTIME_NOW) return kTimeNow;
  if (part == UTIME_OMIT) return kTimeOmit;
  return nanoseconds(seconds, nano, 1);
}

bool times(std::string_view text, SystemCall& call) {
  call.times[0] = call.times[1] = kTimeNow;
  StraceItems items(text);
  std::string_view item;
  for (std::uint64_t& time : call.times) {
    if (items.next(item)) time = time_of(item);
  }
  return true;
}

// What the program gave its requests as a name, which only means something in its context. Those of
// one name end in the order in which they began.
std::uint64_t request(std::uint64_t context, std::uint64_t name) {
  return name ^ context * 0x9e3779b97f4a7c15;
}

}  // namespace

bool open_how(StraceReader& reader, SystemCall& call) {
  const std::string_view how = reader.arguments()[2];
  call.flags = reader.value(strace_member(how, "flags"));
  call.mode = reader.value(strace_member(how, "mode"));
  call.resolve = reader.value(strace_member(how, "resolve"));
  return true;
}

bool range_of_descriptors(StraceReader& reader, SystemCall& call) {
  const auto clamped = [&](std::size_t argument) {
    return static_cast<int>(std::min<std::uint64_t>(reader.value(argument), INT_MAX));
  };
  call.fd = clamped(0);
  call.fd2 = clamped(1);
  return true;
}

// preadv2 and pwritev2 with offset -1 use the description's own.
bool perhaps_positional(StraceReader&, SystemCall& call) {
  if (call.offset == UINT64_MAX) call.offset.reset();
  return true;
}

// _llseek(3, 5, [10], SEEK_CUR) = 0
bool long_seek(StraceReader& reader, SystemCall& call) {
  const std::string_view position = reader.arguments()[2];
  if (!reader.succeeded()) return true;
  if (!position.starts_with('[')) return false;
  call.result = static_cast<std::int64_t>(reader.value(position.substr(1)));
  return true;
}

bool ioctl(StraceReader& reader, SystemCall& call) {
  const std::uint64_t request = strace_value(reader.arguments()[1]).value_or(0);
  switch (request) {
    case FIOCLEX:
    case FIONCLEX:
      call.call = Call::set_cloexec;
      call.flags = request == FIOCLEX ? 1 : 0;
      return true;
    case FICLONE:
      call.fd2 = call.fd;
      std::swap(call.fd2_path, call.fd_path);
      call.offset = call.offset2 = 0;
      return strace_descriptor(reader.arguments()[2], call.fd, call.fd_path);
    case FICLONERANGE: {
      const std::string_view range = reader.arguments()[2];
      call.fd2 = call.fd;
      std::swap(call.fd2_path, call.fd_path);
      call.offset = reader.value(strace_member(range, "src_offset"));
      call.length = reader.value(strace_member(range, "src_length"));
      call.offset2 = reader.value(strace_member(range, "dest_offset"));
      return strace_descriptor(strace_member(range, "src_fd"), call.fd, call.fd_path) ||
             call.result == -EFAULT;
    }
    default:
      return false;
  }
}

bool fcntl(StraceReader& reader, SystemCall& call) {
  bool known = true;
  const std::uint64_t command = strace_value(reader.arguments()[1], known).value_or(F_GETFD);
  const std::string_view argument = reader.arguments()[2];
  if (!known) return false;  // its value would be that of F_DUPFD
  if (command == F_SETFD || command == F_SETFL) {
    take_fcntl(static_cast<int>(command), reader.value(argument), call);
    return true;
  }
  const Fcntl form = take_fcntl(static_cast<int>(command), 0, call);
  if (form != Fcntl::lock) return form == Fcntl::whole;
  if (!argument.starts_with('{')) return call.result == -EFAULT;
  call.flags = reader.value(strace_member(argument, "l_type"));
  call.offset = reader.value(strace_member(argument, "l_start"));
  call.offset2 = reader.value(strace_member(argument, "l_whence"));
  call.length = reader.value(strace_member(argument, "l_len"));
  return true;
}

// io_submit(ctx, n, [{aio_data=7, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, …}, …]) = n
bool submitted(StraceReader& reader, SystemCall& call) {
  if (!reader.succeeded()) return false;
  const std::uint64_t context = call.address;
  StraceItems items(reader.arguments()[2]);
  std::int64_t left = reader.result().value;
  for (std::string_view item; left > 0 && items.next(item); --left) {
    if (!item.starts_with('{')) continue;
    SystemCall one;
    one.call = Call::submit;
    const std::string_view buffer = strace_member(item, "aio_buf");
    one.length = reader.value(strace_member(item, "aio_nbytes"));
    one.offset = reader.value(strace_member(item, "aio_offset"));
    one.flags = reader.value(strace_member(item, "aio_rw_flags"));
    switch (reader.value(strace_member(item, "aio_lio_opcode"))) {
      case IOCB_CMD_PREAD:
        one.requested = Call::read;
        break;
      case IOCB_CMD_PWRITE:
        one.requested = Call::write;
        break;
      case IOCB_CMD_PREADV:
        one.requested = Call::read;
        one.length = reader.sum_of_buffers(buffer);
        break;
      case IOCB_CMD_PWRITEV:
        one.requested = Call::write;
        one.length = reader.sum_of_buffers(buffer);
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
    one.request = request(context, reader.value(strace_member(item, "aio_data")));
    if (!strace_descriptor(strace_member(item, "aio_fildes"), one.fd, one.fd_path)) continue;
    reader.another() = one;
  }
  reader.drop_first();
  return true;
}

// io_getevents(ctx, 1, 4, [{data=0x7, obj=0x7ffc, res=50, res2=0}, …], NULL) = 1
bool completed(StraceReader& reader, SystemCall& call) {
  if (!reader.succeeded()) return false;
  const std::uint64_t context = call.address;
  StraceItems items(reader.arguments()[3]);
  for (std::string_view item; items.next(item);) {
    if (!item.starts_with('{')) continue;
    SystemCall one;
    one.call = Call::complete;
    one.request = request(context, reader.value(strace_member(item, "data")));
    one.result = static_cast<std::int64_t>(reader.value(strace_member(item, "res")));
    reader.another() = one;
  }
  reader.drop_first();
  return true;
}

bool stat_at(StraceReader&, SystemCall& call) {
  if (means_descriptor(call)) take_descriptor(Call::fstat, call);
  return true;
}

bool mode_at(StraceReader&, SystemCall& call) {
  if (means_descriptor(call)) take_descriptor(Call::fchmod, call);
  return true;
}

bool owner_at(StraceReader&, SystemCall& call) {
  if (means_descriptor(call)) take_descriptor(Call::fchown, call);
  return true;
}

bool link_text(StraceReader& reader, SystemCall& call, std::size_t argument) {
  bool cut = false;
  if (!reader.succeeded()) return true;
  if (!strace_string(reader.arguments()[argument], call.text, cut)) return true;
  if (cut) {  // half a text would name something else
    call.text.clear();
    reader.doubt(StraceDoubt::cut_text);
  }
  return true;
}

bool read_link(StraceReader& reader, SystemCall& call) {
  return link_text(reader, call, 1);
}
bool read_link_at(StraceReader& reader, SystemCall& call) {
  return link_text(reader, call, 2);
}

// "0x7ffccc524cb0 /* 8 entries */", or with -v the entries themselves.
bool list(StraceReader& reader, SystemCall& call) {
  const std::string_view text = reader.arguments()[1];
  const std::size_t comment = text.find("/* ");
  if (text.starts_with('[')) {
    StraceItems items(text);
    for (std::string_view item; items.next(item);) ++call.entries;
  } else if (comment != std::string_view::npos) {
    call.entries = reader.value(text.substr(comment + 3));
  }
  return true;
}

bool unlink_at(StraceReader&, SystemCall& call) {
  if ((call.flags & AT_REMOVEDIR) != 0) call.call = Call::rmdir;
  return true;
}

// {actime=1 /* … */, modtime=2 /* … */}
bool times_utime(StraceReader& reader, SystemCall& call) {
  const std::string_view text = reader.arguments()[1];
  if (!text.starts_with('{')) return times({}, call);
  call.times[0] = nanoseconds(strace_member(text, "actime"), {}, 1);
  call.times[1] = nanoseconds(strace_member(text, "modtime"), {}, 1);
  return true;
}

bool times_utimes(StraceReader& reader, SystemCall& call) {
  return times(reader.arguments()[1], call);
}

bool times_futimesat(StraceReader& reader, SystemCall& call) {
  return times(reader.arguments()[2], call);
}

bool times_utimensat(StraceReader& reader, SystemCall& call) {
  if (call.path.empty() && !reader.arguments()[1].starts_with("\"\"")) {
    call.flags |= AT_EMPTY_PATH;  // NULL: the descriptor itself
    reader.needs_no_path();
  }
  if (means_descriptor(call)) take_descriptor(Call::futimens, call);
  return times(reader.arguments()[2], call);
}

bool map(StraceReader&, SystemCall& call) {
  if ((call.flags & MAP_ANONYMOUS) != 0) call.fd = SystemCall::kNone;
  return true;
}

}  // namespace filereel::strace_finish
