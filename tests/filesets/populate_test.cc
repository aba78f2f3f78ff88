#include "filesets/scan/populate.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/content/content.h"
#include "filesets/scan/capture.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/entries.h"
#include "tests/skipped.h"
#include "tests/state_dir.h"
#include "tests/temp_dir.h"

namespace {

using filereel::Entry;
using filereel::EntryKind;
using filereel::FileSet;
using filereel::Hole;
using filereel::PopulateOptions;
using filereel::PopulateProgress;
using filereel::PopulateTotals;

PopulateTotals populate(const FileSet& set, const std::string& dir,
                        const PopulateOptions& options = {},
                        const std::function<void(const PopulateProgress&)>& progress = {}) {
  return filereel::populate_tree(set, dir, options, progress);
}

FileSet captured(const std::string& dir) {
  FileSet set = set_of({});
  const auto totals = filereel::capture_tree(
      dir, {}, [&](const Entry& entry) { set.entries.push_back(entry); }, {});
  CHECK(totals.skipped() == 0);
  return set;
}

std::vector<std::byte> read_file(const std::string& path) {
  const filereel::Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  struct stat status{};
  REQUIRE(fstat(fd.get(), &status) == 0);
  std::vector<std::byte> out(static_cast<std::size_t>(status.st_size));
  REQUIRE(pread(fd.get(), out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()));
  return out;
}

struct stat status_of(const std::string& path) {
  struct stat status{};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status;
}

std::string error_of(const FileSet& set, const std::string& dir,
                     const std::function<void(const PopulateProgress&)>& progress = {}) {
  try {
    populate(set, dir, {}, progress);
  } catch (const filereel::Error& e) {
    return e.what();
  }
  return "";
}

bool is_empty(const std::string& dir) {
  return boost::filesystem::is_empty(dir);
}

// Equal as far as a capture of what was populated from the other one can be.
void check_same(const FileSet& expected, const FileSet& got) {
  REQUIRE(got.entries.size() == expected.entries.size());
  for (std::size_t i = 0; i < got.entries.size(); ++i) {
    const Entry& a = expected.entries[i];
    const Entry& b = got.entries[i];
    CAPTURE(a.path);
    CHECK(b.path == a.path);
    CHECK(b.kind == a.kind);
    CHECK(b.size == a.size);
    CHECK(b.mode == a.mode);
    CHECK(b.mtime_ns == a.mtime_ns);
    CHECK(b.target == a.target);
    CHECK(b.holes == a.holes);
    CHECK(b.content.key == a.content.key);
    const int permille = a.content.compressed_permille;
    CHECK(std::abs(b.content.compressed_permille - permille) <= std::max(20, permille / 20));
  }
}

}  // namespace

TEST_CASE("every kind of entry comes into being with its content, mode and time") {
  const TempDir temp;
  const std::string dir = temp / "new";
  FileSet set = set_of({directory("d", 0750), file("d/f", 300'000, {5, 600, 0}), file("empty", 0),
                        link_to(EntryKind::symlink, "d/s", "../nowhere"),
                        link_to(EntryKind::hard_link, "h", "d/f")});
  set.entries.change(1, [](Entry& entry) { entry.mode = 0640; });
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    set.entries.change(i, [](Entry& entry) { entry.mtime_ns = -1'500'000'000; });
  }
  const PopulateTotals totals = populate(set, dir);

  CHECK(totals.set.files == 2);
  CHECK(totals.set.directories == 1);
  CHECK(totals.set.symlinks == 1);
  CHECK(totals.set.hard_links == 1);
  CHECK(totals.bytes_written == 300'000);
  CHECK_FALSE(totals.interrupted);
  const std::vector<std::byte> bytes = read_file(dir + "/d/f");
  REQUIRE(bytes.size() == 300'000);
  CHECK(filereel::first_difference(set.seed, set.entries.data(1), 0, bytes) == bytes.size());
  CHECK(boost::filesystem::read_symlink(dir + "/d/s") == "../nowhere");
  CHECK(status_of(dir + "/h").st_ino == status_of(dir + "/d/f").st_ino);
  CHECK((status_of(dir + "/d").st_mode & 07777) == 0750);
  CHECK((status_of(dir + "/d/f").st_mode & 07777) == 0640);
  for (const char* name : {"/d", "/d/f", "/d/s", "/empty"}) {
    CAPTURE(name);
    CHECK(status_of(dir + name).st_mtim.tv_sec == -2);
    CHECK(status_of(dir + name).st_mtim.tv_nsec == 500'000'000);
  }
}

TEST_CASE("modes are those of the set whatever the umask") {
  const TempDir temp;
  FileSet set = set_of({directory("d", 0777), file("d/f", 1)});
  set.entries.change(1, [](Entry& entry) { entry.mode = 0666; });
  const mode_t old = umask(077);
  populate(set, temp.path());
  umask(old);
  CHECK((status_of(temp / "d").st_mode & 07777) == 0777);
  CHECK((status_of(temp / "d/f").st_mode & 07777) == 0666);
}

TEST_CASE("a read-only directory is filled before it becomes read-only") {
  const TempDir temp;
  const FileSet set = set_of({directory("a", 0555), directory("a/b", 0500), file("a/b/f", 10),
                              directory("closed", 0), directory("closed/in"), file("a/z", 10)});
  // Modes mean nothing to root, so that the set is populated as somebody else.
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  const StateDir state;
  if (is_root) REQUIRE(chown(state.path().c_str(), kNobody, kNobody) == 0);
  chmod(temp.path().c_str(), 0777);
  if (is_root) REQUIRE(seteuid(kNobody) == 0);
  const std::string error = error_of(set, temp.path());
  if (is_root) REQUIRE(seteuid(0) == 0);
  CHECK(error.empty());
  CHECK((status_of(temp / "a").st_mode & 07777) == 0555);
  CHECK((status_of(temp / "a/b").st_mode & 07777) == 0500);
  CHECK((status_of(temp / "closed").st_mode & 07777) == 0);
  for (const char* name : {"a", "a/b", "closed"}) chmod((temp / name).c_str(), 0755);
  CHECK(status_of(temp / "a/b/f").st_size == 10);
  CHECK((status_of(temp / "closed/in").st_mode & 07777) == 0755);
}

TEST_CASE("set-user-ID and set-group-ID bits are dropped and counted unless asked for") {
  FileSet set = set_of({directory("d", 02755), file("f", 1), file("sticky", 1)});
  set.entries.change(1, [](Entry& entry) { entry.mode = 06755; });
  set.entries.change(2, [](Entry& entry) { entry.mode = 01644; });
  const TempDir without;
  CHECK(populate(set, without.path()).set_ids_dropped == 2);
  CHECK((status_of(without / "d").st_mode & 07777) == 0755);
  CHECK((status_of(without / "f").st_mode & 07777) == 0755);
  CHECK((status_of(without / "sticky").st_mode & 07777) == 01644);
  const TempDir with;
  PopulateOptions options;
  options.keep_set_id = true;
  CHECK(populate(set, with.path(), options).set_ids_dropped == 0);
  CHECK((status_of(with / "d").st_mode & 07777) == 02755);
  CHECK((status_of(with / "f").st_mode & 07777) == 06755);
}

TEST_CASE("holes take no space and read as zeros") {
  const TempDir temp;
  Entry sparse = file("f", 8 << 20, {3, 1000, 0});
  sparse.holes = {{0, 1 << 20}, {2 << 20, 100}, {(3 << 20) + 17, (5 << 20) - 17}};
  const FileSet set = set_of({sparse});
  const PopulateTotals totals = populate(set, temp.path());
  CHECK(totals.bytes_written == (2 << 20) + 17 - 100);
  CHECK(totals.bytes_to_write == totals.bytes_written);
  CHECK(totals.set.bytes == 8 << 20);
  const std::vector<std::byte> bytes = read_file(temp / "f");
  REQUIRE(bytes.size() == 8 << 20);
  CHECK(filereel::first_difference(set.seed, sparse.data(), 0, bytes) == bytes.size());
  CHECK(status_of(temp / "f").st_blocks * 512 < 4 << 20);
}

TEST_CASE("a directory that is not empty is refused and left alone") {
  const TempDir temp;
  mkdir((temp / "mine").c_str(), 0755);
  const std::string error = error_of(set_of({file("f", 1)}), temp.path());
  CHECK(error.find(temp.path()) != std::string::npos);
  CHECK(error.find("mine") != std::string::npos);
  CHECK(error.find("empty") != std::string::npos);
  CHECK_FALSE(boost::filesystem::exists(temp / "f"));
}

// The path of an entry while the set is made, in a work directory that is the only entry of `temp`.
std::string in_work(const TempDir& temp, const std::string& path) {
  return (boost::filesystem::directory_iterator(temp.path())->path() / path).string();
}

TEST_CASE("errors name the path, the cause and the next step") {
  const TempDir temp;
  CHECK(error_of(set_of({}), temp / "no/parent").find("No such file") != std::string::npos);
  // Somebody else makes an entry of the same name.
  const FileSet set = set_of({directory("d"), file("d/f", 10)});
  const std::string error = error_of(set, temp.path(), [&](const PopulateProgress& progress) {
    if (progress.path != "d/f") return;
    mkdir(in_work(temp, "d/f").c_str(), 0755);
  });
  CHECK(error.find(temp / "d/f") != std::string::npos);
  CHECK(error.find("File exists (1 of 2 entries created); choose") != std::string::npos);
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("a set that is larger than the free space is refused before anything is made") {
  const TempDir temp;
  const std::string error = error_of(set_of({directory("d"), file("d/f", INT64_MAX - 1)}),
                                     temp.path(), [](const PopulateProgress&) {
                                       // Or else a failure of this test would fill the disk.
                                       throw std::runtime_error("it has begun to make the set");
                                     });
  CHECK(error.find("9.22 EB") != std::string::npos);
  CHECK(error.find("free") != std::string::npos);
  CHECK(is_empty(temp.path()));
}

TEST_CASE("a set that would reach outside the directory is refused") {
  const TempDir temp;
  const TempDir outside;
  const std::string dir = temp / "root";
  for (const std::string path : {"../f", "/f", "a/../../f", "."}) {
    CAPTURE(path);
    CHECK_FALSE(error_of(set_of({file(path, 1)}), dir).empty());
  }
  const FileSet through_link =
      set_of({link_to(EntryKind::symlink, "s", outside.path()), file("s/f", 1)});
  CHECK_FALSE(error_of(through_link, dir).empty());
  const FileSet hard_link = set_of({link_to(EntryKind::hard_link, "h", "../../etc/passwd")});
  CHECK_FALSE(error_of(hard_link, dir).empty());
  CHECK(is_empty(outside.path()));
}

TEST_CASE("a directory that is replaced by a symlink meanwhile is not followed") {
  const TempDir temp;
  const TempDir outside;
  const FileSet set = set_of({directory("d"), file("d/f", 10)});
  const std::string error = error_of(set, temp.path(), [&](const PopulateProgress& progress) {
    if (progress.path != "d/f" || progress.bytes != 0) return;
    REQUIRE(rename(in_work(temp, "d").c_str(), in_work(temp, "e").c_str()) == 0);
    REQUIRE(symlink(outside.path().c_str(), in_work(temp, "d").c_str()) == 0);
  });
  CHECK(error.find("symbolic links") != std::string::npos);
  CHECK(is_empty(outside.path()));
}

TEST_CASE("what is mounted in the set meanwhile is not written to") {
  const TempDir temp;
  const TempDir outside;
  std::string there;
  bool mounted = false;
  const FileSet set = set_of({directory("d"), file("d/f", 10)});
  const std::string error = error_of(set, temp.path(), [&](const PopulateProgress& progress) {
    if (progress.path != "d/f" || progress.bytes != 0) return;
    there = in_work(temp, "d");
    mounted = mount(outside.path().c_str(), there.c_str(), nullptr, MS_BIND, nullptr) == 0;
  });
  if (!mounted) return skipped("needs the right to mount");
  CHECK(is_empty(outside.path()));
  CHECK(umount(there.c_str()) == 0);
  CHECK(error.find("cross-device") != std::string::npos);
}

TEST_CASE("the longest paths and strangest names that a set may hold are made") {
  const TempDir temp;
  FileSet set = set_of({});
  std::string path;
  while (path.size() + 2 + 1 <= PATH_MAX) {
    if (!path.empty()) path += '/';
    path += path.size() + 4 > PATH_MAX ? "z" : "d";
    set.entries.push_back(directory(path));
  }
  set.entries.push_back(file("\x01\xff\n %", 3));
  populate(set, temp.path());
  CHECK(captured(temp.path()).entries.size() == set.entries.size());
}

TEST_CASE("progress goes up to all entries and all bytes") {
  const TempDir temp;
  const FileSet set = set_of({file("a", 1'000'000), file("b", 5)});
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  populate(set, temp.path(), {}, [&](const PopulateProgress& progress) {
    CHECK(progress.bytes >= bytes);
    CHECK(progress.entries >= entries);
    bytes = progress.bytes;
    entries = progress.entries;
  });
  CHECK(bytes == 1'000'005);
  CHECK(entries == 1);
}

TEST_CASE("a stop ends the population within a file") {
  const TempDir temp;
  std::stop_source source;
  PopulateOptions options;
  options.stop = source.get_token();
  const FileSet set = set_of({file("a", 50'000'000), file("b", 5)});
  const PopulateTotals totals =
      populate(set, temp.path(), options, [&](const PopulateProgress& progress) {
        if (progress.bytes > 0) source.request_stop();
      });
  CHECK(totals.interrupted);
  CHECK(totals.set.files == 0);
  CHECK(totals.bytes_written < 50'000'000);
  CHECK_FALSE(boost::filesystem::exists(temp / "b"));
}

TEST_CASE("capturing what was populated from a capture gives the same file set") {
  const TempDir original;
  const TempDir copy;
  FileSet first = set_of({directory("d", 0700), directory("d/e", 0555), directory("d/x")});
  std::uint64_t key = 1;
  for (const std::uint16_t permille : std::vector<std::uint16_t>{0, 50, 200, 450, 700, 900, 1000}) {
    for (const std::uint64_t size : {4096UL, 12'345UL, 100'000UL, 3'000'001UL}) {
      first.entries.push_back(file("d/e/" + std::to_string(key), size, {key, permille, 0}));
      first.entries.push_back(file("d/x/" + std::to_string(key), size, {key, permille, 0}));
      first.entries.change(first.entries.size() - 1, [](Entry& entry) { entry.mode = 0600; });
      ++key;
    }
  }
  Entry sparse = file("sparse", 4 << 20, {key, 300, 0});
  sparse.holes = {{0, 1 << 20}, {2 << 20, 2 << 20}};
  first.entries.push_back(sparse);
  first.entries.push_back(file("zero", 0));
  first.entries.push_back(link_to(EntryKind::hard_link, "zero2", "d/x/3"));
  first.entries.push_back(link_to(EntryKind::symlink, "zz", "/absolute target"));
  std::int64_t time = 1'700'000'000'123'456'789;
  for (std::size_t i = 0; i < first.entries.size(); ++i) {
    first.entries.change(i, [&](Entry& entry) { entry.mtime_ns = time += 1'000'000'007; });
  }

  populate(first, original.path());
  const FileSet second = captured(original.path());
  populate(second, copy.path());
  check_same(second, captured(copy.path()));
  CHECK(second.entries.size() == first.entries.size());
  // Each content of d/e stands in d/x again.
  std::map<std::uint64_t, int> uses;
  for (const Entry& entry : second.entries) {
    if (entry.path.starts_with("d/e/") || entry.path.starts_with("d/x/")) ++uses[entry.content.key];
  }
  CHECK(uses.size() == key - 1);
  chmod((original / "d/e").c_str(), 0755);
  chmod((copy / "d/e").c_str(), 0755);
}
