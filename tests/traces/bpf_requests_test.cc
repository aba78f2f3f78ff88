#include "traces/record/bpf/bpf_requests.h"

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/traces/bpf_events.h"
#include "tests/traces/recorded_calls.h"
#include "traces/record/bpf/bpf_translation.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFile = 0xf00;  // of descriptor 3, which is open
constexpr unsigned kRingEntry = 0, kControlBlock = 1, kHarvest = 2;

struct Requests {
  Requests()
      : translation(calls.builder, calls.resolver, 0,
                    {.mapped_file = [](std::uint32_t, std::uint64_t,
                                       std::uint64_t) { return std::string(); },
                     .mount_point = [](std::uint64_t) { return std::string(); }}) {
    take(BpfEvent::call(SYS_openat, {kCwd, kPointer, O_RDWR, 0}, 3)
             .path("/f")
             .extra(kFile)
             .identity(1, S_IFREG | 0600, 1 << 20)
             .real(0, "/f"));
    calls.text();
  }

  Requests& take(BpfEvent event) {
    if (event.head.end_ns == 0) {
      now += 2;
      event.at(now - 1, now);
    }
    const std::vector<std::byte> bytes = event.bytes();
    translation.take(bytes);
    return *this;
  }
  Requests& submit(std::uint64_t request, const io_uring_sqe& entry, std::uint64_t file = kFile) {
    return take(
        BpfEvent(EVENT_SUBMIT).with({request}).file(file).object(PART_ENTRY, kRingEntry, entry));
  }
  Requests& complete(std::uint64_t request, std::int64_t result) {
    return take(BpfEvent(EVENT_COMPLETE).with({request}).result(result));
  }
  // Of requests that are told of while it is under way.
  Requests& io_submit(const std::vector<BpfEvent>& requests, std::int64_t count) {
    const std::uint64_t begin = ++now;
    for (const BpfEvent& request : requests) take(request);
    return take(BpfEvent::call(SYS_io_submit, {1, 9, kPointer}, count).at(begin, ++now));
  }
  std::string text() { return calls.text(); }
  std::string finish() {
    translation.finish(now + 1);
    return calls.text();
  }

  std::uint64_t now = 0;
  RecordedCalls calls;
  BpfTranslation translation;
};

io_uring_sqe entry_of(unsigned opcode, int descriptor = 3, std::uint64_t offset = 0,
                      unsigned length = 0) {
  io_uring_sqe entry{};
  entry.opcode = static_cast<__u8>(opcode);
  entry.fd = descriptor;
  entry.off = offset;
  entry.len = length;
  return entry;
}
io_uring_sqe linked(io_uring_sqe entry) {
  entry.flags |= IOSQE_IO_LINK;
  return entry;
}

TEST_CASE("requests of io_uring are asynchronous operations with their results") {
  Requests requests;
  requests.submit(0xa, entry_of(IORING_OP_READ, 3, 4096, 512))
      .submit(0xb, entry_of(IORING_OP_WRITE, 3, 8192, 1024))
      .complete(0xb, 1024)
      .complete(0xa, 100)
      .submit(0xa, entry_of(IORING_OP_FSYNC))
      .complete(0xa, 0);
  CHECK(requests.finish() ==
        "0 read #0 @4096 +512 = 100 asynchronous\n"
        "0 write #0 @8192 +1024 = 1024 asynchronous\n"
        "0 reap +0\n"
        "0 fsync #0 asynchronous\n"
        "0 reap +0\n"
        "0 close #0\n");
}

TEST_CASE("a vector's length is that of its buffers") {
  Requests requests;
  requests
      .take(BpfEvent(EVENT_SUBMIT)
                .with({0xa})
                .file(kFile)
                .extra(700)
                .object(PART_ENTRY, kRingEntry, entry_of(IORING_OP_READV, 3, 0, 2)))
      .complete(0xa, 700);
  CHECK(requests.finish().starts_with("0 read #0 @0 +700 = 700 asynchronous\n"));
}

TEST_CASE("a linked request is submitted when the one before it has ended") {
  Requests requests;
  requests.submit(0xa, linked(entry_of(IORING_OP_WRITE, 3, 0, 100)))
      .submit(0xb, entry_of(IORING_OP_FSYNC))
      .complete(0xa, 100);
  requests.complete(0xb, 0);
  CHECK(requests.finish() ==
        "0 write #0 @0 +100 = 100 asynchronous\n"
        "0 reap +0\n"
        "0 fsync #0 asynchronous\n"
        "0 reap +0\n"
        "0 close #0\n");
}

TEST_CASE("requests cancelled with their chain are omitted") {
  Requests requests;
  requests.submit(0xa, linked(entry_of(IORING_OP_READ, 3, 0, 100)))
      .submit(0xb, linked(entry_of(IORING_OP_WRITE, 3, 0, 100)))
      .submit(0xc, entry_of(IORING_OP_FSYNC))
      .complete(0xb, -ECANCELED)  // in whatever order
      .complete(0xa, -EIO)
      .complete(0xc, -ECANCELED);
  const std::string text = requests.finish();
  CHECK(text.contains("read #0 @0 +100 = -5 asynchronous"));
  CHECK_FALSE(text.contains("write"));
  CHECK_FALSE(text.contains("fsync #0"));
}

TEST_CASE("a chain continues after an unrecorded request") {
  Requests requests;
  requests.submit(0xa, linked(entry_of(IORING_OP_NOP)))
      .submit(0xb, entry_of(IORING_OP_FSYNC))
      .complete(0xa, 0)
      .complete(0xb, 0);
  CHECK(requests.finish().starts_with("0 fsync #0 asynchronous\n"));
}

TEST_CASE("a linked request survives a lost completion of the one before") {
  Requests requests;
  requests.submit(0xa, linked(entry_of(IORING_OP_WRITE, 3, 0, 100)))
      .submit(0xb, entry_of(IORING_OP_READ, 3, 0, 50))
      .complete(0xb, 50);  // of 0xa nobody is told (IOSQE_CQE_SKIP_SUCCESS)
  CHECK(requests.finish().contains("read #0 @0 +50 = 50 asynchronous"));
}

TEST_CASE("reusing a request number ends the previous request") {
  Requests requests;
  requests.submit(0xa, linked(entry_of(IORING_OP_WRITE, 3, 0, 100)))
      .submit(0xb, entry_of(IORING_OP_READ, 3, 0, 50))
      .submit(0xa, entry_of(IORING_OP_FSYNC))
      .complete(0xb, 50)
      .complete(0xa, 0);
  const std::string text = requests.finish();
  CHECK(text.contains("read #0 @0 +50 = 50 asynchronous"));
  CHECK(text.contains("fsync #0 asynchronous"));
}

TEST_CASE("a ring can open, use and close files in its own table") {
  Requests requests;
  io_uring_sqe opening = entry_of(IORING_OP_OPENAT, AT_FDCWD, 0, 0600);
  opening.open_flags = O_RDWR | O_CREAT;
  opening.file_index = 8;  // place 7
  io_uring_sqe read = entry_of(IORING_OP_READ, 7, 0, 10);
  read.flags = IOSQE_FIXED_FILE;
  io_uring_sqe closing = entry_of(IORING_OP_CLOSE, 0);
  closing.file_index = 8;
  requests
      .take(BpfEvent(EVENT_SUBMIT)
                .with({0xa})
                .object(PART_ENTRY, kRingEntry, linked(opening))
                .path("/new"))
      .submit(0xb, read, 0)
      .take(BpfEvent(EVENT_COMPLETE).with({0xa}).result(0).file(0xe00).extra(7))
      .complete(0xb, 10)
      // Of descriptor 0, which this is not about.
      .submit(0xc, closing, kFile)
      .complete(0xc, 0);
  const std::string text = requests.text();
  CHECK(text.starts_with("0 open new #1 flags 102 mode 600"));
  CHECK(text.contains("read #1 @0 +10 = 10 asynchronous"));
  CHECK(text.ends_with("close #1\n"));
}

TEST_CASE("invalid indexes into a ring's table are not files") {
  Requests requests;
  io_uring_sqe read = entry_of(IORING_OP_READ, INT32_MAX, 0, 10);
  read.flags = IOSQE_FIXED_FILE;
  io_uring_sqe closing = entry_of(IORING_OP_CLOSE, 3);
  closing.file_index = 0x8000'0000;
  requests.submit(0xa, read, 0)
      .complete(0xa, 10)
      .submit(0xb, closing)
      .complete(0xb, 0)
      .take(BpfEvent(EVENT_COMPLETE).with({0xc}).result(0).file(0xe00).extra(UINT64_MAX));
  CHECK(requests.text().empty());
}

TEST_CASE("requests on paths are treated as calls") {
  Requests requests;
  const auto submit = [&](std::uint64_t request, const io_uring_sqe& entry, std::int64_t result) {
    requests
        .take(BpfEvent(EVENT_SUBMIT)
                  .with({request})
                  .object(PART_ENTRY, kRingEntry, entry)
                  .path("/a")
                  .path2("/b")
                  .copy(0, open_how{.flags = O_PATH, .mode = 0, .resolve = 0}))
        .complete(request, result);
  };
  submit(1, entry_of(IORING_OP_MKDIRAT, AT_FDCWD, 0, 0700), 0);
  io_uring_sqe entry = entry_of(IORING_OP_RENAMEAT, AT_FDCWD);
  entry.len = static_cast<__u32>(AT_FDCWD);
  submit(2, entry, 0);
  entry = entry_of(IORING_OP_UNLINKAT, AT_FDCWD);
  entry.unlink_flags = AT_REMOVEDIR;
  submit(3, entry, -ENOENT);
  submit(4, entry_of(IORING_OP_SYMLINKAT, AT_FDCWD), -EEXIST);
  submit(5, entry_of(IORING_OP_OPENAT2, AT_FDCWD), -ENOENT);
  CHECK(requests.text() ==
        "0 mkdir a mode 700\n"
        "0 rename a -> b\n"
        "0 rmdir a = -2\n"
        "0 symlink b '/a' = -17\n"
        "0 open a flags 10000000 = -2\n");
}

TEST_CASE("statx of a descriptor is a stat of the open file") {
  Requests requests;
  io_uring_sqe entry = entry_of(IORING_OP_STATX, 3);
  entry.statx_flags = AT_EMPTY_PATH;
  requests
      .take(BpfEvent(EVENT_SUBMIT)
                .with({0xa})
                .file(kFile)
                .object(PART_ENTRY, kRingEntry, entry)
                .path(""))
      .complete(0xa, 0);
  CHECK(requests.text().starts_with("0 stat #0"));
}

iocb block_of(unsigned opcode, std::int64_t offset, std::uint64_t length) {
  iocb block{};
  block.aio_lio_opcode = static_cast<__u16>(opcode);
  block.aio_fildes = 3;
  block.aio_offset = offset;
  block.aio_nbytes = length;
  return block;
}
BpfEvent announced(std::uint64_t request, const iocb& block) {
  return BpfEvent(EVENT_SUBMIT)
      .with({request})
      .file(kFile)
      .object(PART_ENTRY, kControlBlock, block);
}
template <std::size_t kCount>
BpfEvent harvest(const std::array<io_event, kCount>& ends) {
  return BpfEvent(EVENT_COMPLETE).object(PART_ENTRY, kHarvest, ends);
}
io_event end_of(std::uint64_t request, std::int64_t result) {
  return {.data = 0, .obj = request, .res = result, .res2 = 0};
}

TEST_CASE("io_submit can accept fewer requests than submitted") {
  Requests requests;
  requests
      .io_submit({announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100)),
                  announced(0xb, block_of(IOCB_CMD_PWRITE, 4096, 200)),
                  announced(0xc, block_of(IOCB_CMD_PREAD, 8192, 300))},
                 2)
      .take(harvest(std::array{end_of(0xb, 200), end_of(0xa, 100)}));
  CHECK(requests.finish() ==
        "0 read #0 @0 +100 = 100 asynchronous\n"
        "0 write #0 @4096 +200 = 200 asynchronous\n"
        "0 reap +0\n"
        "0 close #0\n");
}

TEST_CASE("a failed io_submit accepts nothing") {
  Requests requests;
  requests.io_submit({announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100))}, -EAGAIN);
  CHECK(requests.finish() == "0 close #0\n");
}

TEST_CASE("a request can complete before io_submit returns") {
  Requests requests;
  requests.take(BpfEvent(EVENT_FORK).with({CLONE_THREAD | CLONE_VM | CLONE_FILES}).result(101));
  requests.io_submit({announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100)),
                      harvest(std::array{end_of(0xa, 100)}).by(101, 100)},
                     1);
  const std::string text = requests.finish();
  CHECK(text.contains("read #0 @0 +100 = 100 asynchronous"));
  CHECK(text.find("read") == text.rfind("read"));
}

TEST_CASE("requests of other processes may have the same number") {
  Requests requests;
  requests
      .io_submit({announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100)),
                  harvest(std::array{end_of(0xa, 7)}).by(300, 300)},
                 0)
      .io_submit({announced(0xa, block_of(IOCB_CMD_PREAD, 0, 200))}, 1)
      .take(harvest(std::array{end_of(0xa, 200)}));
  const std::string text = requests.finish();
  CHECK_FALSE(text.contains("+100"));
  CHECK(text.contains("read #0 @0 +200 = 200 asynchronous"));
}

TEST_CASE("an io_submit whose return was missed does not affect the next one") {
  Requests requests;
  requests.take(announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100)))
      .io_submit({announced(0xb, block_of(IOCB_CMD_PREAD, 0, 200)),
                  announced(0xc, block_of(IOCB_CMD_PREAD, 0, 300))},
                 1)
      .take(harvest(std::array{end_of(0xa, 100), end_of(0xb, 200)}));
  const std::string text = requests.finish();
  CHECK(text.contains("+100 = 100 asynchronous"));
  CHECK(text.contains("+200 = 200 asynchronous"));
  CHECK_FALSE(text.contains("+300"));
}

TEST_CASE("requests not yet accepted end with their thread") {
  Requests requests;
  requests.take(announced(0xa, block_of(IOCB_CMD_PREAD, 0, 100)))
      .take(BpfEvent(EVENT_EXIT))
      .io_submit({}, 1);
  CHECK_FALSE(requests.finish().contains("read"));
}

TEST_CASE("unsupported requests are omitted, unreadable ones counted") {
  Requests requests;
  requests.take(BpfEvent(EVENT_SUBMIT).with({1}).part(PART_ENTRY, kRingEntry, "short"))
      .take(BpfEvent(EVENT_SUBMIT).with({1}))
      .io_submit({announced(2, block_of(77, 0, 0))}, 1)
      .take(BpfEvent(EVENT_COMPLETE).part(PART_ENTRY, kHarvest, "", PART_CUT));
  CHECK(requests.text().empty());
  CHECK(requests.calls.lost("request completions that could not be read") == 1);
}

}  // namespace
}  // namespace filereel
