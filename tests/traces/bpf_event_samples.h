// Samples for the fuzzer of the events (tests/fuzz/traces/bpf_events.cc): what the recorder tells
// of small programs, and what no recorder would.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/traces/bpf_events.h"

namespace filereel {

// As the fuzzer reads it: how to record, then events, each behind its length.
class BpfSample {
 public:
  explicit BpfSample(std::string name, char how = 0) : name_(std::move(name)), bytes_(1, how) {}

  BpfSample& add(BpfEvent event) {
    ++events_;
    event.at(1000 + 10 * events_, 1005 + 10 * events_);
    return add_bytes(event.bytes());
  }
  BpfSample& add_bytes(const std::vector<std::byte>& event) {
    bytes_ += static_cast<char>(event.size() & 0xff);
    bytes_ += static_cast<char>(event.size() >> 8);
    bytes_.append(reinterpret_cast<const char*>(event.data()), event.size());
    return *this;
  }
  // Ends in the middle of the last event.
  BpfSample& cut(std::size_t bytes) {
    bytes_.resize(bytes_.size() - bytes);
    return *this;
  }
  const std::string& name() const { return name_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string name_, bytes_;
  std::uint64_t events_ = 0;
};

inline std::vector<BpfSample> bpf_event_samples() {
  constexpr std::uint64_t kUnknownAddress = 0x7000;
  constexpr char kUnder = 1, kFaults = 2, kFromExec = 4;
  const auto open = [](std::int64_t number, std::uint64_t file, const std::string& path) {
    return BpfEvent::call(SYS_openat, {kCwd, kUnknownAddress, O_RDWR | O_CREAT, 0600}, number)
        .path(path)
        .extra(file)
        .identity(file, S_IFREG | 0600, 100)
        .real(0, path);
  };
  const auto exec =
      BpfEvent(EVENT_EXEC).path("/d/p").identity(9, S_IFREG | 0755, 9000).real(0, "/d/p");
  const auto call = [](long number, std::uint64_t descriptor, std::uint64_t file,
                       std::int64_t result = 0) {
    return BpfEvent::call(number, {descriptor, kUnknownAddress, 64, 0}, result).file(file);
  };
  const auto request = [](std::uint64_t name, unsigned opcode, unsigned flags) {
    io_uring_sqe entry{};
    entry.opcode = static_cast<__u8>(opcode);
    entry.flags = static_cast<__u8>(flags);
    entry.fd = 3;
    entry.len = 64;
    return BpfEvent(EVENT_SUBMIT).with({name}).file(0x30).object(PART_ENTRY, 0, entry);
  };
  const auto ended = [](std::uint64_t name, std::int64_t result) {
    return BpfEvent(EVENT_COMPLETE).with({name}).result(result);
  };
  iocb block{};
  block.aio_lio_opcode = IOCB_CMD_PWRITE;
  block.aio_fildes = 3;
  block.aio_nbytes = 64;
  const auto announced = [&](std::uint64_t name) {
    return BpfEvent(EVENT_SUBMIT).with({name}).file(0x30).object(PART_ENTRY, 1, block);
  };
  io_uring_sqe opening{};
  opening.opcode = IORING_OP_OPENAT;
  opening.fd = AT_FDCWD;
  opening.flags = IOSQE_IO_LINK;
  opening.file_index = 3;
  const std::array<io_event, 2> ends = {io_event{0, 0xb, 64, 0}, io_event{0, 0xa, 64, 0}};

  std::vector<BpfSample> samples;
  samples.push_back(
      BpfSample("good-files", kFaults)
          .add(exec)
          .add(open(3, 0x30, "/d/a"))
          .add(open(4, 0x40, "/d/b").real(0, "b", PART_SIBLING))
          .add(call(SYS_write, 3, 0x30, 64))
          .add(call(SYS_pread64, 4, 0x40, 10))
          .add(BpfEvent::call(SYS_renameat, {kCwd, 1, kCwd, 2}).path("/d/a").path2("/d/c"))
          .add(BpfEvent::call(SYS_copy_file_range, {3, 0, 4, 0, 64}, 64).file(0x30, 0x40))
          .add(BpfEvent::call(SYS_mmap, {0, 8192, 3, 1, 3, 0}, 0x10000).file(0x30))
          .add(BpfEvent(EVENT_FAULT)
                   .with({1, 1, 1})
                   .identity(0x30, S_IFREG, 9000)
                   .real(0, "/a", PART_PARTIAL))
          .add(call(SYS_close, 3, 0x30))
          .add(call(SYS_close, 4, 0x40)));
  samples.push_back(
      BpfSample("good-processes", kFromExec | kUnder)
          .add(exec)
          .add(open(3, 0x30, "/d/a"))
          .add(BpfEvent(EVENT_FILE)
                   .with({9})
                   .file(0x99)
                   .identity(77, S_IFREG | 0644, 300)
                   .real(0, "/d/told"))
          .add(BpfEvent::call(SYS_read, {9, kPointer, 10}, 10).file(0x99))
          .add(BpfEvent(EVENT_FORK).result(200))
          .add(BpfEvent(EVENT_FORK).with({CLONE_THREAD | CLONE_VM | CLONE_FILES}).result(101))
          .add(call(SYS_write, 3, 0x30, 64).by(200, 200))
          .add(call(SYS_dup, 3, 0x30, 5).extra(0x30).by(101, 100))
          .add(BpfEvent(EVENT_EXIT))
          .add(BpfEvent(exec).by(100, 100).with({101}))
          .add(BpfEvent(EVENT_EXIT).by(200, 200))
          .add(BpfEvent::call(SYS_wait4, {0}, 200)));
  samples.push_back(
      BpfSample("good-ring")
          .add(open(3, 0x30, "/d/a"))
          .add(request(0xa, IORING_OP_WRITE, IOSQE_IO_LINK))
          .add(request(0xb, IORING_OP_FSYNC, 0))
          .add(ended(0xa, 64))
          .add(ended(0xb, 0))
          .add(BpfEvent(EVENT_SUBMIT).with({0xa}).object(PART_ENTRY, 0, opening).path("/d/e"))
          .add(request(0xb, IORING_OP_READ, IOSQE_FIXED_FILE).file(0))
          .add(ended(0xa, 0).file(0xe0).extra(2))
          .add(ended(0xb, -ECANCELED)));
  samples.push_back(BpfSample("good-libaio")
                        .add(open(3, 0x30, "/d/a"))
                        .add(announced(0xa))
                        .add(announced(0xb))
                        .add(announced(0xc))
                        .add(BpfEvent(EVENT_COMPLETE).object(PART_ENTRY, 2, ends))
                        .add(BpfEvent::call(SYS_io_submit, {1, 3, kUnknownAddress}, 2)));
  samples.push_back(BpfSample("bad-order", kFaults)
                        .add(ended(0xa, 5))
                        .add(call(SYS_close, 3, 0x30))
                        .add(open(4, 0x40, "").real(0, "b", PART_SIBLING))
                        .add(BpfEvent(EVENT_EXIT).by(7, 7))
                        .add(request(0xa, IORING_OP_WRITE, IOSQE_IO_LINK))
                        .add(request(0xa, IORING_OP_READ, IOSQE_IO_LINK))
                        .add(request(0xa, IORING_OP_FSYNC, 0))
                        .add(BpfEvent(EVENT_FORK).result(100)));
  samples.push_back(
      BpfSample("bad-numbers", kFaults)
          .add(open(INT64_MAX, UINT64_MAX, "/d/a"))
          .add(BpfEvent::call(SYS_close_range, {UINT64_MAX, 0, UINT64_MAX}))
          .add(BpfEvent::call(SYS_pwrite64, {UINT64_MAX, 0, UINT64_MAX, UINT64_MAX}, INT64_MAX)
                   .file(UINT64_MAX))
          .add(BpfEvent(EVENT_FAULT)
                   .with({UINT64_MAX, UINT64_MAX, 2})
                   .identity(0x30, S_IFREG, UINT64_MAX)
                   .real(0, "/"))
          .add(ended(0xa, INT64_MIN).file(1).extra(UINT64_MAX))
          .add(request(0xa, 255, 255))
          .add(BpfEvent(EVENT_KINDS)));
  samples.push_back(
      BpfSample("bad-parts")
          .add(BpfEvent::call(SYS_openat, {kCwd, 1}).part(PART_IDENTITY, 0, "short"))
          .add(open(3, 0x30, "/d/a").part(PART_REAL, 0, "\377ab"))
          .add(BpfEvent::call(SYS_ioctl, {3, 0x4020940d, kUnknownAddress}).copy(0, 'x'))
          .add(BpfEvent(EVENT_SUBMIT).part(PART_ENTRY, 0, "short"))
          .add(BpfEvent(EVENT_COMPLETE).part(PART_ENTRY, 2, "short"))
          .add_bytes({})
          .add(open(3, 0x30, "/d/a"))
          .cut(7));
  const auto other = [] { return BpfEvent(EVENT_OTHER).with({0x6d72}).by(300, 300); };
  samples.push_back(BpfSample("good-others")
                        .add(other().path("/d/a"))
                        .add(other().path("../a/").real(0, "/d/e").path2("b").real(1, "/d"))
                        .add(other().identity(0x30, S_IFREG).real(0, "/d/c", PART_DELETED)));
  samples.push_back(BpfSample("bad-others")
                        .add(other())
                        .add(other().with({UINT64_MAX, UINT64_MAX}).path("..").real(0, "/"))
                        .add(other().path("\377/\n/.").path2("."))
                        .add(other().part(PART_STRING, 0, "", PART_CUT).real(0, "/d"))
                        .add(other().part(PART_REAL, 0, "\377ab")));
  return samples;
}

}  // namespace filereel
