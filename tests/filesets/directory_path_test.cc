#include <cerrno>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/paths.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("paths are canonical, also those that do not exist yet") {
  const TempDir folder;
  const std::string real = canonical_path(folder.path());
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory_symlink("a", folder / "link");
  std::ofstream(folder / "file");
  CHECK(canonical_path(folder / "link") == real + "/a");
  CHECK(canonical_path(folder / "link/../file") == real + "/file");
  CHECK(canonical_path(folder / "none").empty());
  CHECK(errno == ENOENT);
  CHECK(full_path(folder / "link") == real + "/a");
  CHECK(full_path(folder / "link/new/x") == real + "/a/new/x");
  CHECK(full_path(folder / "link/new/") == real + "/a/new");
  CHECK(full_path(folder / "new/../other") == real + "/other");
  CHECK(full_path(folder / "file/x") == real + "/file/x");
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK(full_path(folder / "loop/x") == (folder / "loop/x"));
  CHECK(full_path("/") == "/");
}

TEST_CASE("absolute paths need no working directory") {
  const TempDir folder;
  const std::string real = canonical_path(folder.path());
  std::filesystem::create_directory(folder / "gone");
  const pid_t child = ::fork();
  if (child == 0) {  // the working directory is that of a process
    const bool left =
        chdir((folder / "gone").c_str()) == 0 && rmdir((folder / "gone").c_str()) == 0;
    const bool right = left && !has_working_directory() && absolute_path("/x") == "/x" &&
                       absolute_path("x") == "x" && canonical_path(folder.path()) == real &&
                       canonical_path("x").empty() && full_path("x") == "x" &&
                       full_path(folder / "new") == real + "/new";
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(has_working_directory());
}

}  // namespace
}  // namespace filereel
