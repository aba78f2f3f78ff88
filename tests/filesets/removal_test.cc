#include "filesets/ownership/removal.h"

#include <fstream>
#include <initializer_list>
#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

void write_file(const std::string& path) {
  std::ofstream(path) << "x";
}

Descriptor opened(const std::string& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Removes all that is in "tree".
void remove_in(const TempDir& temp) {
  remove_contents(opened(temp / "tree").get(), "tree");
}

FileIdentity identity(const TempDir& temp, const std::string& name) {
  return read_file_state(opened(temp.path()).get(), name)->identity;
}

TEST_CASE("a tree goes with all that is in it and nothing beside it") {
  const TempDir temp;
  fs::create_directories(temp / "tree/a/b/c");
  write_file(temp / "tree/f");
  write_file(temp / "tree/a/b/c/f");
  write_file(temp / "tree/.hidden");
  write_file(temp / "tree/a/\xff\n");
  mkfifo((temp / "tree/fifo").c_str(), 0600);
  chmod((temp / "tree/a/b").c_str(), 0500);
  write_file(temp / "treefrog");
  remove_in(temp);
  CHECK(fs::is_empty(temp / "tree"));
  CHECK(fs::exists(temp / "treefrog"));
}

TEST_CASE("symbolic links are removed and never followed") {
  const TempDir outside;
  write_file(outside / "precious");
  const TempDir temp;
  mkdir((temp / "tree").c_str(), 0755);
  REQUIRE(symlink(outside.path().c_str(), (temp / "tree/dir").c_str()) == 0);
  REQUIRE(symlink((outside / "precious").c_str(), (temp / "tree/file").c_str()) == 0);
  REQUIRE(symlink("..", (temp / "tree/up").c_str()) == 0);
  REQUIRE(symlink("nowhere", (temp / "tree/dangling").c_str()) == 0);
  remove_in(temp);
  CHECK(fs::is_empty(temp / "tree"));
  CHECK(fs::exists(outside / "precious"));
}

TEST_CASE("a directory of thousands of names is emptied") {
  const TempDir temp;
  mkdir((temp / "tree").c_str(), 0755);
  for (int i = 0; i < 3'000; ++i) write_file(temp / ("tree/" + std::to_string(i)));
  remove_in(temp);
  CHECK(fs::is_empty(temp / "tree"));
}

// root may remove everything, so somebody else tries. Returns what they are told.
std::string remove_as_nobody(const TempDir& temp, std::initializer_list<const char*> owned) {
  constexpr uid_t kNobody = 65534;
  for (const char* const name : owned) REQUIRE(chown((temp / name).c_str(), kNobody, kNobody) == 0);
  REQUIRE(seteuid(kNobody) == 0);
  std::string text;
  try {
    remove_in(temp);
  } catch (const Error& error) {
    text = error.what();
  }
  REQUIRE(seteuid(0) == 0);
  return text;
}

TEST_CASE("what cannot be removed is named") {
  if (geteuid() != 0) return skipped("needs root");
  const TempDir temp;
  fs::create_directories(temp / "tree/other");
  write_file(temp / "tree/other/f");
  CHECK(remove_as_nobody(temp, {"tree"}) ==
        "cannot remove tree/other/f: Permission denied; remove it by hand");
}

TEST_CASE("directories that their owner has locked are removed") {
  if (geteuid() != 0) return skipped("needs root");
  const TempDir temp;
  fs::create_directories(temp / "tree/a/closed");
  write_file(temp / "tree/a/f");
  chmod((temp / "tree/a/closed").c_str(), 0);
  chmod((temp / "tree/a").c_str(), 0500);
  CHECK(remove_as_nobody(temp, {"tree", "tree/a", "tree/a/closed"}).empty());
  CHECK(fs::is_empty(temp / "tree"));
}

TEST_CASE("a tree of more levels than files may be open is removed") {
  const TempDir temp;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  mkdir((temp / "tree").c_str(), 0755);
  {
    Descriptor at = opened(temp / "tree");
    for (int i = 0; i < 3'000; ++i) {
      REQUIRE(mkdirat(at.get(), "d", 0755) == 0);
      REQUIRE(mkdirat(at.get(), "e", 0755) == 0);
      at = Descriptor(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      REQUIRE(at);
    }
  }
  const rlimit few{150, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  CHECK_NOTHROW(remove_in(temp));
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(fs::is_empty(temp / "tree"));
}

TEST_CASE("what is mounted in a tree stays") {
  if (geteuid() != 0) return skipped("needs root");
  const TempDir temp, outside;
  fs::create_directories(temp / "tree/a/b");
  write_file(outside / "precious");
  if (mount(outside.path().c_str(), (temp / "tree/a/b").c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return skipped("needs the right to mount");
  }
  CHECK_THROWS_AS(remove_in(temp), Error);
  CHECK(fs::exists(outside / "precious"));
  CHECK(umount((temp / "tree/a/b").c_str()) == 0);
  CHECK_NOTHROW(remove_in(temp));
  CHECK(fs::exists(outside / "precious"));
}

TEST_CASE("a file or an empty directory is removed if it is the one that is meant") {
  const TempDir temp;
  const Descriptor parent = opened(temp.path());
  write_file(temp / "f");
  mkdir((temp / "d").c_str(), 0755);
  const FileIdentity file = identity(temp, "f"), directory = identity(temp, "d");
  CHECK(remove_exactly(parent.get(), "d", file) == ESTALE);
  CHECK(remove_exactly(parent.get(), "gone", file) == ENOENT);
  CHECK(fs::exists(temp / "f"));
  CHECK(fs::exists(temp / "d"));
  CHECK(remove_exactly(parent.get(), "f", file) == 0);
  CHECK(remove_exactly(parent.get(), "d", directory) == 0);
  CHECK(fs::is_empty(temp.path()));
}

TEST_CASE("what a killed process had moved aside is removed by the next one") {
  const TempDir temp;
  write_file(temp / "f");
  const FileIdentity file = identity(temp, "f");
  fs::rename(temp / "f", temp / aside_name(file));
  CHECK(remove_exactly(opened(temp.path()).get(), "f", file) == 0);
  CHECK(fs::is_empty(temp.path()));
  write_file(temp / aside_name(file));  // somebody else's, however it came to that name
  usleep(20'000);
  write_file(temp / "g");
  CHECK(remove_exactly(opened(temp.path()).get(), "f", identity(temp, "g")) == ENOENT);
  CHECK(fs::exists(temp / aside_name(file)));
}

TEST_CASE("a directory with something in it stays where it is") {
  const TempDir temp;
  fs::create_directories(temp / "d/e");
  CHECK(remove_exactly(opened(temp.path()).get(), "d", identity(temp, "d")) == ENOTEMPTY);
  CHECK(fs::exists(temp / "d/e"));
}

TEST_CASE("a file with the inode number of a removed one is another file") {
  const TempDir temp;
  write_file(temp / "f");
  const FileIdentity first = identity(temp, "f");
  if (first.birth_ns == 0) return skipped("this file system does not say when a file was born");
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    unlink((temp / "f").c_str());
    usleep(10'000);  // the grain of the kernel's clock for files
    write_file(temp / "f");
    if (identity(temp, "f").inode != first.inode) continue;
    ++same;
    CHECK(remove_exactly(opened(temp.path()).get(), "f", first) == ESTALE);
    break;
  }
  CHECK(fs::exists(temp / "f"));
  MESSAGE("tried with the same number: ", same);
}

TEST_CASE("a rename does not replace anything") {
  const TempDir temp;
  const Descriptor parent = opened(temp.path());
  write_file(temp / "f");
  write_file(temp / "g");
  mkdir((temp / "d").c_str(), 0755);
  CHECK(rename_new(parent.get(), "f", parent.get(), "g") == EEXIST);
  CHECK(rename_new(parent.get(), "d", parent.get(), "g") == EEXIST);
  CHECK(rename_new(parent.get(), "f", parent.get(), "d") == EEXIST);
  CHECK(rename_new(parent.get(), "f", parent.get(), "h") == 0);
  CHECK(rename_new(parent.get(), "d", parent.get(), "e") == 0);
  CHECK(rename_new(parent.get(), "gone", parent.get(), "x") == ENOENT);
}

}  // namespace
}  // namespace filereel
