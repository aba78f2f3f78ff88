// Calls in strace's output that stand for several: the requests of io_submit and io_getevents, and
// the descriptor created by clone3.
#include <array>
#include <optional>
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

// A larger count is not that of a call.
constexpr std::int64_t kMostHidden = 65536;

// A member of struct iocb: "aio_nbytes=4096"; "nbytes=4096" or "nbytes:4096" in older versions of
// strace.
std::string_view block_member(std::string_view block, std::string_view name) {
  StraceItems items(block);
  for (std::string_view item; items.next(item);) {
    constexpr std::string_view kPrefix = "aio_";
    if (item.starts_with(kPrefix)) item.remove_prefix(kPrefix.size());
    if (!item.starts_with(name) || item.size() <= name.size()) continue;
    if (item[name.size()] == '=' || item[name.size()] == ':') return item.substr(name.size() + 1);
  }
  return {};
}

std::string_view descriptor_member(std::string_view block) {
  const std::string_view older = block_member(block, "filedes");
  return older.empty() ? block_member(block, "fildes") : older;
}

struct Opcode {
  unsigned number;
  std::string_view older_name;    // of older versions
  std::optional<Call> requested;  // nullopt: not about files
  bool has_vector = false;
};
constexpr Opcode kOpcodes[] = {
    {IOCB_CMD_PREAD, "pread", Call::read},         {IOCB_CMD_PWRITE, "pwrite", Call::write},
    {IOCB_CMD_FSYNC, "fsync", Call::fsync},        {IOCB_CMD_FDSYNC, "fdsync", Call::fdatasync},
    {IOCB_CMD_POLL, "poll", std::nullopt},         {IOCB_CMD_NOOP, "noop", std::nullopt},
    {IOCB_CMD_PREADV, "preadv", Call::read, true}, {IOCB_CMD_PWRITEV, "pwritev", Call::write, true},
};

// Older versions write the name of the opcode without that of the member.
std::optional<Opcode> opcode_of(std::string_view block) {
  const std::string_view text = block_member(block, "lio_opcode");
  const auto number = strace_number(text);
  for (const Opcode& opcode : kOpcodes) {
    if (number ? *number == opcode.number : false) return opcode;
    if (!text.empty()) continue;
    StraceItems items(block);
    for (std::string_view item; items.next(item);) {
      if (item == opcode.older_name) return opcode;
    }
  }
  return std::nullopt;
}

// The buffers in "{pwritev, filedes=3, 4096, [{"ab", 2}]}", of older versions, and the offset
// before them.
std::string_view unnamed_vector(std::string_view block, std::uint64_t& offset) {
  std::optional<std::uint64_t> before;
  StraceItems items(block);
  for (std::string_view item; items.next(item);) {
    if (item.starts_with('[') && before) {
      offset = *before;
      return item;
    }
    if (const auto number = strace_number(item)) before = number;
  }
  return {};
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
  if (name == "pidfd_getfd") read_foreign_descriptor();
  return true;
}

void StraceReader::add(SystemCall&& call) {
  if (count_ == calls_.size()) calls_.emplace_back();
  calls_[count_++] = std::move(call);
}

// io_submit(ctx, n, [{aio_data=7, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, …}, …]) = n
void StraceReader::read_submitted() {
  const std::uint64_t context = calls_[0].address;
  const std::string_view name = calls_[0].name;
  count_ = 0;  // the line has no call of its own
  StraceItems items(arguments_[2]);
  std::int64_t left = result().value;
  for (std::string_view item; left > 0 && items.next(item); --left) {
    SystemCall call;
    call.call = Call::submit;
    call.name = name;
    if (!read_submitted(item, call)) {
      doubt(StraceDoubt::hidden_request);
    } else if (call.fd != SystemCall::kNone) {
      call.request = request(context, call.request);
      add(std::move(call));
    }
  }
  for (; left > 0 && left <= kMostHidden; --left) doubt(StraceDoubt::hidden_request);
}

// False if it cannot be read. One that is not about files has no descriptor.
bool StraceReader::read_submitted(std::string_view control_block, SystemCall& call) {
  const auto number = [&](std::string_view member, std::uint64_t& to) {
    const std::string_view text = block_member(control_block, member);
    const auto value = strace_number(text);
    to = value.value_or(0);
    return value.has_value();
  };
  const std::optional<Opcode> opcode = opcode_of(control_block);
  if (!opcode) return false;
  if (!opcode->requested) return true;
  call.requested = *opcode->requested;
  if (!block_member(control_block, "data").empty() && !number("data", call.request)) return false;
  if (const auto flags = strace_member(control_block, "aio_rw_flags"); !flags.empty()) {
    call.flags = strace_flags(flags);
  }
  const bool moves = call.requested == Call::read || call.requested == Call::write;
  std::uint64_t offset = 0;
  if (opcode->has_vector) {
    std::string_view vector = strace_member(control_block, "aio_buf");
    if (vector.empty()) {
      vector = unnamed_vector(control_block, offset);
    } else if (!number("offset", offset)) {
      return false;
    }
    if (vector.empty()) return false;
    const auto sum = sum_of_buffers(vector, 0);
    if (!sum) return false;
    call.length = *sum;
  } else if (moves && (!number("nbytes", call.length) || !number("offset", offset))) {
    return false;
  }
  call.offset = offset;
  return strace_descriptor(descriptor_member(control_block), call.fd, call.fd_path);
}

// io_getevents(ctx, 1, 4, [{data=0x7, obj=0x7ffc, res=50, res2=0}, …], NULL) = 1, or without names
// (older versions): {{0x7, 0x7ffc, 50, 0}, …}
void StraceReader::read_completed() {
  constexpr std::size_t kData = 0, kResult = 2;
  const std::uint64_t context = calls_[0].address;
  count_ = 0;  // the line has no call of its own
  StraceItems items(arguments_[3]);
  std::int64_t left = result().value;
  for (std::string_view item; left > 0 && items.next(item); --left) {
    std::array<std::optional<std::uint64_t>, 4> values;
    StraceItems members(item);
    std::string_view member;
    for (std::size_t i = 0; i < values.size() && members.next(member); ++i) {
      values[i] = strace_number(member.substr(member.find('=') + 1));
    }
    if (!values[kData] || !values[kResult]) {
      doubt(StraceDoubt::hidden_completion);
      continue;
    }
    SystemCall call;
    call.call = Call::complete;
    call.request = request(context, *values[kData]);
    call.result = static_cast<std::int64_t>(*values[kResult]);
    add(std::move(call));
  }
  for (; left > 0 && left <= kMostHidden; --left) doubt(StraceDoubt::hidden_completion);
}

// pidfd_getfd(3, 4, 0) = 5</a>: without a path, everything through it is lost.
void StraceReader::read_foreign_descriptor() {
  if (calls_[0].result_path.empty()) {
    calls_[0].call = Call::unsupported_open;
    return;
  }
  SystemCall lost = calls_[0];
  lost.call = Call::unsupported;
  lost.result = 0;
  add(std::move(lost));
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
