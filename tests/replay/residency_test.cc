#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/page_cache.h"
#include "tests/entries.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

constexpr std::size_t kSize = 4 << 20;

Descriptor written_file(const std::string& path, std::size_t size) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  REQUIRE(file);
  const std::string bytes(size, 'x');
  REQUIRE(write(file.get(), bytes.data(), size) == static_cast<ssize_t>(size));
  return file;
}

// Whether a file's pages can leave the cache at all: those of tmpfs are the file itself.
bool can_be_cold(int fd) {
  struct statfs info{};
  REQUIRE(fstatfs(fd, &info) == 0);
  return info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC;
}

TEST_CASE("a file that was just written stands in the cache") {
  const TempDir temp;
  const Descriptor file = written_file(temp / "f", kSize);
  const Residency seen = residency(file.get());
  CHECK(seen.size == kSize);
  CHECK(seen.cached == kSize);
}

TEST_CASE("a file that is written back and dropped does not") {
  const TempDir temp;
  const Descriptor file = written_file(temp / "f", kSize);
  REQUIRE(fsync(file.get()) == 0);
  drop_from_cache(file.get());
  const Residency seen = residency(file.get());
  CHECK(seen.size == kSize);
  if (can_be_cold(file.get())) {
    CHECK(seen.cached == 0);
  } else {
    CHECK(seen.cached == kSize);
  }
}

TEST_CASE("looking brings nothing into the cache, reading does") {
  const std::string folder = temporary_on_disk();
  if (folder.empty()) return skipped("no folder for temporary files lies on a disk");
  const TempDir temp(folder);
  const Descriptor file = written_file(temp / "f", kSize);
  REQUIRE(fsync(file.get()) == 0);
  drop_from_cache(file.get());
  for (int i = 0; i < 3; ++i) CHECK(residency(file.get()).cached == 0);
  char byte = 0;
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);  // no reading ahead
  REQUIRE(pread(file.get(), &byte, 1, kSize / 2) == 1);
  const Residency seen = residency(file.get());
  CHECK(seen.cached > 0);
  CHECK(seen.cached < kSize);
}

TEST_CASE("the last page of a file counts whole") {
  const TempDir temp;
  const Descriptor file = written_file(temp / "f", 10);
  const Residency seen = residency(file.get());
  CHECK(seen.size == 10);
  CHECK(seen.cached == static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST_CASE("an empty file and what is no file have no size") {
  const TempDir temp;
  CHECK(residency(written_file(temp / "f", 0).get()).size == 0);
  const Descriptor folder(open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(residency(folder.get()).cached == 0);
  CHECK(residency(-1).size == 0);
}

TEST_CASE("files are warm when the cache holds all of them") {
  const std::string folder = temporary_on_disk();
  if (folder.empty()) return skipped("no folder for temporary files lies on a disk");
  const TempDir temp(folder);
  for (const char* const name : {"a", "b"}) {
    const Descriptor file = written_file(temp / name, kSize + 10);
    REQUIRE(fsync(file.get()) == 0);
    drop_from_cache(file.get());
    REQUIRE(residency(file.get()).cached == 0);
  }
  const Descriptor root(open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const EntryList all = {file("a", 1), file("b", 1), file("absent", 1)};
  CHECK(warm_files(root.get(), FileList(all), {}) == 1.0);
  const EntryList absent = {file("absent", 1)};
  CHECK(warm_files(root.get(), FileList(absent), {}) == std::nullopt);
}

TEST_CASE("a stop ends the warming") {
  const TempDir temp;
  written_file(temp / "f", kSize);
  const Descriptor root(open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::stop_source stop;
  stop.request_stop();
  const EntryList files = {file("f", 1)};
  CHECK(warm_files(root.get(), FileList(files), stop.get_token()) == std::nullopt);
}

}  // namespace
}  // namespace filereel
