#include "traces/open_flags.h"

#include <cerrno>
#include <cstdint>
#include <set>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "traces/import/strace_constants.h"

namespace filereel {
namespace {

using namespace open_flags;

TEST_CASE("a trace has the flags of x86-64") {
  CHECK(kDirect == 040000);
  CHECK(kLargeFile == 0100000);
  CHECK(kDirectory == 0200000);
  CHECK(kNoFollow == 0400000);
  CHECK(kTemporary == 020200000);
  CHECK(strace_constant("O_DIRECT") == 040000);
  CHECK(strace_constant("O_LARGEFILE") == 0100000);
  CHECK(strace_constant("O_DIRECTORY") == 0200000);
  CHECK(strace_constant("O_NOFOLLOW") == 0400000);
  CHECK(strace_constant("O_TMPFILE") == 020200000);
  CHECK(strace_constant("MAP_32BIT") == 0x40);
}

TEST_CASE("flags of each processor are converted to those of a trace and back") {
  for (const Processor& processor : kProcessors) {
    CAPTURE(processor.name);
    for (std::uint32_t flags = 0; flags < 1 << 20; ++flags) {
      const std::uint32_t there = convert(flags, processor, kOfTraces);
      if (convert(there, kOfTraces, processor) != flags) FAIL("lost: " << flags);
    }
    for (std::size_t i = 0; i < processor.values.size(); ++i) {
      CHECK(convert(processor.values[i], processor, kOfTraces) == kOfTraces.values[i]);
      CHECK(convert(processor.values[i] | O_RDWR | O_CREAT, processor, kOfTraces) ==
            (kOfTraces.values[i] | O_RDWR | O_CREAT));
    }
  }
}

TEST_CASE("arm64 exchanges the flags for direct I/O and large files with those of directories") {
  const Processor& arm = kProcessors[1];
  CHECK(convert(040000, arm, kOfTraces) == kDirectory);
  CHECK(convert(0100000, arm, kOfTraces) == kNoFollow);
  CHECK(convert(0200000, arm, kOfTraces) == kDirect);
  CHECK(convert(0400000, arm, kOfTraces) == kLargeFile);
  CHECK(convert(kTemporary, kOfTraces, arm) == 020040000);
  CHECK(convert(std::uint64_t{1} << 40 | 2, arm, kOfTraces) == (std::uint64_t{1} << 40 | 2));
}

TEST_CASE("this processor's flags are those of its headers") {
  CHECK(to_kernel(kDirect) == O_DIRECT);
  CHECK(to_kernel(kDirectory) == O_DIRECTORY);
  CHECK(to_kernel(kNoFollow) == O_NOFOLLOW);
  CHECK(to_kernel(kTemporary) == O_TMPFILE);
  CHECK(from_kernel(O_DIRECT | O_RDWR) == (kDirect | O_RDWR));
  CHECK(from_kernel(O_TMPFILE | O_RDWR) == (kTemporary | O_RDWR));
}

// Whoever adds a processor learns here whether it needs more than kProcessors.
TEST_CASE("all other numbers of a trace are the same on this processor") {
  CHECK(O_ACCMODE == 3);
  CHECK(O_CREAT == 0100);
  CHECK(O_EXCL == 0200);
  CHECK(O_NOCTTY == 0400);
  CHECK(O_TRUNC == 01000);
  CHECK(O_APPEND == 02000);
  CHECK(O_NONBLOCK == 04000);
  CHECK(O_DSYNC == 010000);
  CHECK(O_ASYNC == 020000);
  CHECK(O_NOATIME == 01000000);
  CHECK(O_CLOEXEC == 02000000);
  CHECK(O_SYNC == 04010000);
  CHECK(O_PATH == 010000000);
  CHECK(AT_FDCWD == -100);
  CHECK(AT_SYMLINK_NOFOLLOW == 0x100);
  CHECK(AT_REMOVEDIR == 0x200);
  CHECK(AT_SYMLINK_FOLLOW == 0x400);
  CHECK(AT_EMPTY_PATH == 0x1000);
  CHECK(RENAME_NOREPLACE == 1);
  CHECK(RENAME_EXCHANGE == 2);
  CHECK(FALLOC_FL_KEEP_SIZE == 1);
  CHECK(FALLOC_FL_PUNCH_HOLE == 2);
  CHECK(FALLOC_FL_ZERO_RANGE == 0x10);
  CHECK(POSIX_FADV_DONTNEED == 4);
  CHECK(POSIX_FADV_NOREUSE == 5);
  CHECK(SYNC_FILE_RANGE_WAIT_AFTER == 4);
  CHECK(SEEK_DATA == 3);
  CHECK(SEEK_HOLE == 4);
  CHECK(XATTR_CREATE == 1);
  CHECK(XATTR_REPLACE == 2);
  CHECK(PROT_EXEC == 4);
  CHECK(MAP_SHARED_VALIDATE == 3);
  CHECK(MAP_FIXED == 0x10);
  CHECK(MAP_ANONYMOUS == 0x20);
  CHECK(MAP_NORESERVE == 0x4000);
  CHECK(MAP_POPULATE == 0x8000);
  CHECK(MAP_FIXED_NOREPLACE == 0x100000);
  CHECK(MS_ASYNC == 1);
  CHECK(MS_INVALIDATE == 2);
  CHECK(MS_SYNC == 4);
  CHECK(CLONE_THREAD == 0x10000);
  CHECK(F_SETFL == 4);
  CHECK(F_SETLK == 6);
  CHECK(F_OFD_SETLK == 37);
  CHECK(S_IFMT == 0170000);
  CHECK(S_IFLNK == 0120000);
  CHECK(ENAMETOOLONG == 36);
  CHECK(EOPNOTSUPP == 95);
  CHECK(ELOOP == 40);
  CHECK(ESTALE == 116);
}

}  // namespace
}  // namespace filereel
