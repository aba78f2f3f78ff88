#include "filesets/scan/capture.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "filesets/content/content.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace {

using filereel::CaptureOptions;
using filereel::CaptureProgress;
using filereel::CaptureTotals;
using filereel::Entry;
using filereel::EntryKind;
using filereel::Hole;

void write_at(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  const filereel::Descriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  REQUIRE(fd);
  REQUIRE(pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
          static_cast<ssize_t>(bytes.size()));
}

void write_file(const std::string& path, const std::string& bytes) {
  write_at(path, 0, bytes);
}

std::string content(std::uint64_t key, std::uint16_t permille, std::size_t size) {
  std::string out(size, '\0');
  filereel::fill_content(1, {key, permille, 0}, 0, std::as_writable_bytes(std::span(out)));
  return out;
}

struct Captured {
  std::vector<Entry> entries;
  CaptureTotals totals;

  const Entry& at(const std::string& path) const {
    for (const Entry& entry : entries) {
      if (entry.path == path) return entry;
    }
    throw std::out_of_range(path);
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const Entry& entry : entries) out.push_back(entry.path);
    return out;
  }
};

Captured capture(const std::string& dir, const CaptureOptions& options = {},
                 const std::function<void(const CaptureProgress&)>& progress = {}) {
  Captured out;
  out.totals = filereel::capture_tree(
      dir, options, [&](const Entry& entry) { out.entries.push_back(entry); }, progress);
  return out;
}

}  // namespace

TEST_CASE("a tree is captured directory first, in the byte order of the names") {
  const TempDir dir;
  mkdir((dir / "b").c_str(), 0755);
  mkdir((dir / "b/z").c_str(), 0755);
  mkdir((dir / "empty").c_str(), 0755);
  write_file(dir / "b/y", "1");
  write_file(dir / "b/z/deep", "2");
  write_file(dir / "B", "3");
  write_file(dir / "b.txt", "4");
  write_file(dir / "\xff\n", "5");
  const Captured got = capture(dir.path());
  CHECK(got.paths() ==
        std::vector<std::string>{"B", "b", "b/y", "b/z", "b/z/deep", "b.txt", "empty", "\xff\n"});
  CHECK(got.totals.set.files == 5);
  CHECK(got.totals.set.directories == 3);
  CHECK(got.totals.set.bytes == 5);
  CHECK(got.totals.skipped() == 0);
  CHECK_FALSE(got.totals.interrupted);
}

TEST_CASE("what is captured is a valid file set") {
  const TempDir dir;
  mkdir((dir / "d").c_str(), 0700);
  write_file(dir / "d/f", content(1, 500, 10'000));
  REQUIRE(link((dir / "d/f").c_str(), (dir / "d/g").c_str()) == 0);
  REQUIRE(symlink("f", (dir / "d/s").c_str()) == 0);
  filereel::FileSet set;
  set.entries = filereel::EntryList(capture(dir.path()).entries);
  CHECK(set.entries.size() == 4);
  CHECK_NOTHROW(filereel::check_file_set(set));
}

TEST_CASE("kind, size, mode and time of each entry are captured") {
  const TempDir dir;
  write_file(dir / "f", "hello");
  REQUIRE(chmod((dir / "f").c_str(), 04751) == 0);
  REQUIRE(symlink("no/such\ntarget", (dir / "s").c_str()) == 0);
  mkdir((dir / "d").c_str(), 0755);
  REQUIRE(chmod((dir / "d").c_str(), 01777) == 0);
  const timespec times[2] = {{1, 0}, {-5, 999'999'999}};
  for (const char* name : {"f", "s", "d"}) {
    REQUIRE(utimensat(AT_FDCWD, (dir / name).c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
  }
  const Captured got = capture(dir.path());
  CHECK(got.at("f").kind == EntryKind::file);
  CHECK(got.at("f").size == 5);
  CHECK(got.at("f").mode == 04751);
  CHECK(got.at("s").kind == EntryKind::symlink);
  CHECK(got.at("s").target == "no/such\ntarget");
  CHECK(got.at("d").kind == EntryKind::directory);
  CHECK(got.at("d").mode == 01777);
  for (const char* name : {"f", "s", "d"}) CHECK(got.at(name).mtime_ns == -4'000'000'001);
}

TEST_CASE("times that a file set cannot hold become the nearest one and are counted") {
  const TempDir dir;
  for (const char* name : {"early", "late", "usual"}) write_file(dir / name, "x");
  constexpr std::int64_t kYear = 31'556'952;
  const auto set_year = [&](const char* name, std::int64_t year) {
    const timespec times[2] = {{1, 0}, {(year - 1970) * kYear, 0}};
    REQUIRE(utimensat(AT_FDCWD, (dir / name).c_str(), times, 0) == 0);
    struct stat now{};
    REQUIRE(stat((dir / name).c_str(), &now) == 0);
    return now.st_mtim.tv_sec == times[1].tv_sec;  // otherwise the file system cannot hold it
  };
  const bool late = set_year("late", 2400), early = set_year("early", 1500);
  const Captured got = capture(dir.path());
  if (late) CHECK(got.at("late").mtime_ns == INT64_MAX);
  if (early) CHECK(got.at("early").mtime_ns == INT64_MIN + 1);
  CHECK(got.totals.times_moved == (late ? 1 : 0) + (early ? 1 : 0));
}

TEST_CASE("every further name of a file is a hard link to its first") {
  const TempDir dir;
  mkdir((dir / "z").c_str(), 0755);
  write_file(dir / "a", "x");
  write_file(dir / "b", "x");
  REQUIRE(link((dir / "a").c_str(), (dir / "c").c_str()) == 0);
  REQUIRE(link((dir / "a").c_str(), (dir / "z/d").c_str()) == 0);
  const Captured got = capture(dir.path());
  CHECK(got.at("a").kind == EntryKind::file);
  CHECK(got.at("b").kind == EntryKind::file);
  for (const char* name : {"c", "z/d"}) {
    CHECK(got.at(name).kind == EntryKind::hard_link);
    CHECK(got.at(name).target == "a");
    CHECK(got.at(name).size == 0);
  }
  CHECK(got.totals.set.hard_links == 2);
  CHECK(got.totals.set.bytes == 2);
}

TEST_CASE("files with the same bytes share a content and others do not") {
  const TempDir dir;
  const std::string big = content(1, 700, 1'500'000);
  write_file(dir / "a", big);
  write_file(dir / "b", big);
  write_file(dir / "c", big.substr(0, big.size() - 1));
  std::string changed = big;
  changed[800'000] ^= 1;
  write_file(dir / "d", changed);
  write_file(dir / "e", "");
  write_file(dir / "f", "");
  const Captured got = capture(dir.path());
  CHECK(got.at("a").content == got.at("b").content);
  CHECK(got.at("a").content.key == 1);
  CHECK(got.at("c").content.key == 2);
  CHECK(got.at("d").content.key == 3);
  CHECK(got.at("e").content.key == 0);
  CHECK(got.at("f").content.key == 0);
  CHECK(got.totals.duplicate_files == 1);
  CHECK(got.totals.duplicate_bytes == big.size());
}

TEST_CASE("thousands of different contents keep their own keys") {
  const TempDir dir;
  for (int i = 0; i < 3000; ++i) write_file(dir / std::to_string(i), std::to_string(i / 2));
  std::map<std::uint64_t, int> files;
  for (const Entry& entry : capture(dir.path()).entries) ++files[entry.content.key];
  CHECK(files.size() == 1500);
  for (const auto& [key, count] : files) CHECK(count == 2);
}

TEST_CASE("compressibility is measured on small and on sampled large files") {
  const TempDir dir;
  for (const std::uint16_t permille : std::vector<std::uint16_t>{0, 50, 300, 750, 1000}) {
    for (const std::size_t size : {8192UL, 400'000UL, 5'000'000UL}) {
      write_file(dir / "f", content(2, permille, size));
      const int got = capture(dir.path()).at("f").content.compressed_permille;
      CAPTURE(permille);
      CAPTURE(size);
      CHECK(std::abs(got - permille) <= std::max(10, permille / 20));
      unlink((dir / "f").c_str());
    }
  }
  write_file(dir / "text", std::string(100'000, 'a'));
  CHECK(capture(dir.path()).at("text").content.compressed_permille <= 1);
}

TEST_CASE("samples of a large file reach its middle and its end") {
  const TempDir dir;
  // A fifth does not compress: first at the end, then in the middle.
  for (const std::size_t at : {8'000'000UL, 4'000'000UL}) {
    write_file(dir / "f", std::string(10'000'000, 'a'));
    write_at(dir / "f", at, content(1, 1000, 2'000'000));
    CHECK(capture(dir.path()).at("f").content.compressed_permille >= 100);
    unlink((dir / "f").c_str());
  }
}

TEST_CASE("holes are captured where the file system reports them") {
  const TempDir dir;
  const std::string data = content(1, 1000, 65536);
  write_at(dir / "sparse", 1 << 20, data);
  write_at(dir / "sparse", 4 << 20, data);
  REQUIRE(truncate((dir / "sparse").c_str(), 8 << 20) == 0);
  write_file(dir / "only_hole", "");
  REQUIRE(truncate((dir / "only_hole").c_str(), 1 << 20) == 0);
  write_file(dir / "dense", data);
  const Captured got = capture(dir.path());
  struct stat status{};
  REQUIRE(stat((dir / "only_hole").c_str(), &status) == 0);
  if (status.st_blocks != 0) return skipped("this file system keeps no holes");
  CHECK(got.at("dense").holes.empty());
  CHECK(got.at("only_hole").holes == std::vector<Hole>{{0, 1 << 20}});
  CHECK(got.at("only_hole").content.key == 0);
  CHECK(got.at("sparse").holes == std::vector<Hole>{{0, 1 << 20},
                                                    {(1 << 20) + 65536, (3 << 20) - 65536},
                                                    {(4 << 20) + 65536, (4 << 20) - 65536}});
  // Measured on the data alone.
  CHECK(got.at("sparse").content.compressed_permille >= 490);
}

TEST_CASE("FIFOs and sockets are skipped, counted and named") {
  const TempDir dir;
  REQUIRE(mkfifo((dir / "fifo").c_str(), 0644) == 0);
  const filereel::Descriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (dir / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  write_file(dir / "file", "x");
  const Captured got = capture(dir.path());
  CHECK(got.paths() == std::vector<std::string>{"file"});
  CHECK(got.totals.special == 2);
  REQUIRE(got.totals.examples.size() == 2);
  CHECK(got.totals.examples[0].path == "fifo");
  CHECK(got.totals.examples[1].path == "socket");
}

TEST_CASE("only the first few of many skipped names are kept, but all are counted") {
  const TempDir dir;
  for (int i = 0; i < 50; ++i) {
    REQUIRE(mkfifo((dir / std::to_string(100 + i)).c_str(), 0644) == 0);
  }
  const CaptureTotals totals = capture(dir.path()).totals;
  CHECK(totals.special == 50);
  CHECK(totals.examples.size() == CaptureTotals::kMaxExamples);
}

TEST_CASE("unreadable files and directories are counted and do not end the capture") {
  const TempDir dir;
  write_file(dir / "a_secret", "x");
  mkdir((dir / "b_closed").c_str(), 0755);
  write_file(dir / "b_closed/f", "x");
  write_file(dir / "c", "x");
  chmod((dir / "a_secret").c_str(), 0);
  chmod((dir / "b_closed").c_str(), 0);
  // root reads everything, so the capture runs as somebody else.
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  if (is_root) REQUIRE(seteuid(kNobody) == 0);
  const Captured got = capture(dir.path());
  if (is_root) REQUIRE(seteuid(0) == 0);
  chmod((dir / "b_closed").c_str(), 0755);
  CHECK(got.paths() == std::vector<std::string>{"b_closed", "c"});
  CHECK(got.totals.unreadable == 2);
  CHECK(got.totals.examples.at(0).reason == "Permission denied");
}

TEST_CASE("symlinks to directories are not followed") {
  const TempDir dir;
  const TempDir outside;
  write_file(outside / "f", "x");
  REQUIRE(symlink(outside.path().c_str(), (dir / "link").c_str()) == 0);
  REQUIRE(symlink(".", (dir / "loop").c_str()) == 0);
  CHECK(capture(dir.path()).paths() == std::vector<std::string>{"link", "loop"});
}

TEST_CASE("a file that grows while it is read is counted as changed") {
  const TempDir dir;
  write_file(dir / "a", std::string(100, 'a'));
  write_file(dir / "b", "b");
  const Captured got = capture(dir.path(), {}, [&](const CaptureProgress& progress) {
    if (progress.path == "a" && progress.bytes == 100) write_at(dir / "a", 100, "more");
  });
  CHECK(got.paths() == std::vector<std::string>{"b"});
  CHECK(got.totals.changed == 1);
  CHECK(got.totals.examples.at(0).path == "a");
}

TEST_CASE("a file that is cut short while it is read is counted as changed") {
  const TempDir dir;
  write_file(dir / "a", std::string(2'000'000, 'a'));
  const Captured got = capture(dir.path(), {}, [&](const CaptureProgress& progress) {
    if (progress.bytes < 600'000) REQUIRE(truncate((dir / "a").c_str(), 10) == 0);
  });
  CHECK(got.entries.empty());
  CHECK(got.totals.changed == 1);
}

TEST_CASE("entries that vanish or are moved away during the walk are counted as changed") {
  const TempDir dir;
  mkdir((dir / "d").c_str(), 0755);
  mkdir((dir / "d/a").c_str(), 0755);
  write_file(dir / "d/a/f", "x");
  write_file(dir / "d/b", "x");
  write_file(dir / "e", "x");
  write_file(dir / "g", "x");
  const Captured got = capture(dir.path(), {}, [&](const CaptureProgress& progress) {
    // While d/a is walked, d is replaced by a symlink, which must not be followed back.
    if (progress.path == "d/a/f" && progress.entries == 3) {
      rename((dir / "d").c_str(), (dir / "h").c_str());
      REQUIRE(symlink("h", (dir / "d").c_str()) == 0);
      unlink((dir / "e").c_str());
    }
  });
  CHECK(got.paths() == std::vector<std::string>{"d", "d/a", "d/a/f", "g"});
  CHECK(got.totals.changed == 2);
}

TEST_CASE("a tree deeper than there are descriptors is captured as far as paths can reach") {
  const TempDir dir;
  constexpr int kDepth = 2100;  // "a/" each: more than PATH_MAX bytes
  filereel::Descriptor at(open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kDepth; ++i) {
    REQUIRE(mkdirat(at.get(), "a", 0755) == 0);
    REQUIRE(mkdirat(at.get(), "b", 0755) == 0);
    at = filereel::Descriptor(openat(at.get(), "a", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  const Captured got = capture(dir.path());
  // Paths of 1, 3, ... 4095 bytes, and "b" beside each "a".
  CHECK(got.totals.set.directories == 2 * 2048);
  CHECK(got.totals.too_long == 2);
  CHECK(got.totals.changed == 0);
}

TEST_CASE("a stop ends the capture between entries and within a file") {
  const TempDir dir;
  write_file(dir / "a", "x");
  write_file(dir / "b", std::string(3'000'000, 'b'));
  write_file(dir / "c", "x");
  for (const std::uint64_t stop_at : {std::uint64_t{1}, std::uint64_t{1'000'000}}) {
    std::stop_source source;
    CaptureOptions options;
    options.stop = source.get_token();
    const Captured got = capture(dir.path(), options, [&](const CaptureProgress& progress) {
      if (progress.bytes >= stop_at) source.request_stop();
    });
    CAPTURE(stop_at);
    CHECK(got.totals.interrupted);
    CHECK(got.entries.size() <= 1);
  }
}

TEST_CASE("capturing what is no directory is an error that names it") {
  const TempDir dir;
  write_file(dir / "file", "x");
  for (const std::string name : {"file", "missing"}) {
    CAPTURE(name);
    try {
      capture(dir / name);
      FAIL("no error");
    } catch (const filereel::Error& e) {
      CHECK(e.kind() == filereel::ErrorKind::unusable_input);
      CHECK(std::string(e.what()).find(dir / name) != std::string::npos);
    }
  }
}
