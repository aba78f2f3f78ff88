#include "replay/volumes/remove_tree.h"

#include <fstream>
#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/descriptor.h"
#include "filesets/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

void write_file(const std::string& path) {
  std::ofstream(path) << "x";
}

void remove_in(const TempDir& temp, const std::string& name) {
  const Descriptor parent(open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  remove_tree(parent.get(), name);
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
  remove_in(temp, "tree");
  CHECK_FALSE(fs::exists(temp / "tree"));
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
  remove_in(temp, "tree");
  CHECK_FALSE(fs::exists(temp / "tree"));
  CHECK(fs::exists(outside / "precious"));
  REQUIRE(symlink(outside.path().c_str(), (temp / "tree").c_str()) == 0);
  remove_in(temp, "tree");
  CHECK_FALSE(fs::exists(fs::symlink_status(temp / "tree")));
  CHECK(fs::exists(outside / "precious"));
}

TEST_CASE("a single file goes, and what is not there is gone already") {
  const TempDir temp;
  write_file(temp / "f");
  remove_in(temp, "f");
  CHECK_FALSE(fs::exists(temp / "f"));
  CHECK_NOTHROW(remove_in(temp, "f"));
}

TEST_CASE("a directory of thousands of names is emptied") {
  const TempDir temp;
  mkdir((temp / "tree").c_str(), 0755);
  for (int i = 0; i < 3'000; ++i) write_file(temp / ("tree/" + std::to_string(i)));
  remove_in(temp, "tree");
  CHECK_FALSE(fs::exists(temp / "tree"));
}

TEST_CASE("what cannot be removed is named") {
  const TempDir temp;
  fs::create_directories(temp / "tree/closed");
  write_file(temp / "tree/closed/f");
  chmod((temp / "tree/closed").c_str(), 0500);
  // root may remove everything, so somebody else tries.
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  if (is_root) {
    for (const std::string& path : {temp.path(), temp / "tree", temp / "tree/closed"}) {
      REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
    }
    REQUIRE(seteuid(kNobody) == 0);
  }
  std::string text;
  try {
    remove_in(temp, "tree");
  } catch (const Error& error) {
    text = error.what();
  }
  if (is_root) REQUIRE(seteuid(0) == 0);
  CHECK(text == "cannot remove tree/closed/f: Permission denied; remove it by hand");
  chmod((temp / "tree/closed").c_str(), 0755);
}

}  // namespace
}  // namespace filereel
