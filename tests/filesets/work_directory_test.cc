#include "filesets/ownership/work_directory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/ownership/leftovers.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "tests/skipped.h"
#include "tests/state_dir.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;
constexpr auto kVolume = WorkDirectory::Use::volume;

void write_to(const std::string& path, const std::string& text = "x") {
  std::ofstream(path) << text;
}

std::string text_in(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void make_in(int directory, const std::string& name) {
  const Descriptor file(openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  REQUIRE(file);
  REQUIRE(write(file.get(), "made", 4) == 4);
}

// A tree with all kinds of entries, kept in `path`.
void keep_tree(const std::string& path) {
  WorkDirectory directory(path, kVolume);
  directory.take();
  const int root = directory.root();
  REQUIRE(mkdirat(root, "d", 0755) == 0);
  make_in(root, "d/f");
  make_in(root, "g");
  REQUIRE(linkat(root, "g", root, "d/link", 0) == 0);
  REQUIRE(symlinkat("d/f", root, "symlink") == 0);
  REQUIRE(mkfifoat(root, "d/fifo", 0600) == 0);
  directory.keep();
}

// All that could be seen to change below it.
std::string state_of_tree(const std::string& folder) {
  const std::string command = "find '" + folder + "' -printf '%p %i %y %s %T@ %C@ %l\\n' | sort";
  const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c = 0; (c = fgetc(out.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

std::string refusal(const std::string& path) {
  try {
    WorkDirectory directory(path, kVolume);
    directory.take();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("what is kept appears in the directory, and nothing else") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp.path());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(temp.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"d", "g", "symlink"});
  CHECK(text_in(temp / "d/link") == "made");
}

TEST_CASE("opening a directory changes nothing, and knows what taking it would remove") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp / "v");
  const std::string before = state_of_tree(temp.path());
  {
    const WorkDirectory kept(temp / "v", kVolume), missing(temp / "new", kVolume);
    CHECK(kept.removable().entries > 3);
    CHECK(kept.removable().bytes > 0);
    CHECK(missing.removable().entries == 0);
  }
  CHECK(state_of_tree(temp.path()) == before);
  WorkDirectory directory(temp / "v", kVolume);
  directory.take();
  CHECK_FALSE(fs::exists(temp / "v/g"));
}

TEST_CASE("what is not kept is gone, and so is a directory that was made") {
  const StateDir state;
  const TempDir temp;
  {
    WorkDirectory directory(temp / "new", kVolume);
    directory.take();
    make_in(directory.root(), "f");
    CHECK(fs::exists(temp / "new"));
  }
  CHECK(fs::is_empty(temp.path()));
  {
    WorkDirectory directory(temp.path(), kVolume);
    directory.take();
    make_in(directory.root(), "f");
  }
  CHECK(fs::is_empty(temp.path()));
  CHECK(list_leases().empty());
}

TEST_CASE("what was kept goes for the next use if nobody has changed it") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp.path());
  keep_tree(temp.path());
  CHECK(text_in(temp / "g") == "made");
  {
    WorkDirectory directory(temp.path(), kVolume);
    directory.take();
  }
  CHECK(fs::is_empty(temp.path()));
}

TEST_CASE("a change to what was kept makes it the user's") {
  struct Change {
    const char* what;
    const char* command;
    const char* named;
  };
  for (const Change& change : {
           Change{"a file beside", "echo mine >mine", "/mine"},
           Change{"a file below", "echo mine >d/mine", "/d/mine"},
           Change{"an empty directory", "mkdir d/mine", "/d/mine"},
           Change{"other content of the same size", "printf mine >d/f", "/d/f"},
           Change{"the same with the old time",
                  "touch -r d/f t && printf mine >d/f && touch -r t d/f && rm t", "/d/f"},
           Change{"another file in its place", "rm d/f; printf mine >d/f", "/d/f"},
           Change{"another file by rename", "printf mine >n && mv n d/f", "/d/f"},
           Change{"another directory in its place, and one link of a file less",
                  "rm -r d && mkdir d", "was added or changed"},
           Change{"another link", "rm symlink && ln -s d/g symlink", "/symlink"},
           Change{"a change of rights", "chmod 600 d/f && chmod 644 d/f", "/d/f"},
           Change{"a second name", "ln d/f ../mine", "/d/f"},
           Change{"a name changed", "mv d/f d/mine", "/d/mine"},
           Change{"a directory's name changed", "mv d e", "/e"},
       }) {
    const StateDir state;
    const TempDir temp;
    const std::string folder = temp / "v";
    keep_tree(folder);
    usleep(20'000);  // the grain of the kernel's clock for files
    const std::string command = "cd '" + folder + "' && " + change.command;
    REQUIRE(system(command.c_str()) == 0);
    const std::string before = state_of_tree(folder);
    const std::string text = refusal(folder);
    CHECK_MESSAGE(text.find(change.named) != std::string::npos, std::string(change.what), ": ",
                  text);
    CHECK(state_of_tree(folder) == before);
    CHECK(text_in(folder + "/g") == "made");
  }
}

TEST_CASE("what the user removed from what was kept is not missed") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp.path());
  fs::remove(temp / "d/f");
  CHECK(refusal(temp.path()).empty());
  keep_tree(temp.path());
  fs::remove_all(temp / "d");
  fs::remove(temp / "symlink");
  CHECK(refusal(temp.path()).find("/g") != std::string::npos);  // lost a link, which is a change
}

TEST_CASE("a kept directory may be renamed") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp / "a");
  fs::rename(temp / "a", temp / "b");
  CHECK(refusal(temp / "b").empty());
}

TEST_CASE("what somebody put beside the work before it was kept stays the user's") {
  const StateDir state;
  const TempDir temp;
  {
    WorkDirectory directory(temp.path(), kVolume);
    directory.take();
    make_in(directory.root(), "f");
    write_to(temp / "mine");
    directory.keep();
  }
  CHECK(refusal(temp.path()).find("/mine") != std::string::npos);
  fs::remove(temp / "mine");
  CHECK(refusal(temp.path()).empty());
}

TEST_CASE("trees that were kept at one place in turn, as on two drives, are told apart") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp / "v");
  fs::rename(temp / "v", temp / "a");
  keep_tree(temp / "v");
  fs::rename(temp / "v", temp / "b");
  for (const char* const name : {"a", "b"}) {
    fs::rename(temp / name, temp / "v");
    CHECK(refusal(temp / "v").empty());
    fs::rename(temp / "v", temp / name);
  }
}

TEST_CASE("what a kill left of the removal of a kept tree is removed by the next one") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp.path());
  const Descriptor parent(open((temp / "d").c_str(), O_RDONLY | O_DIRECTORY));
  fs::rename(temp / "d/f", temp / "d/" + aside_name(read_file_state(parent.get(), "f")->identity));
  CHECK(refusal(temp.path()).empty());
  CHECK(fs::is_empty(temp.path()));
}

TEST_CASE("what a killed process left on a drive that is away goes when it is back") {
  const StateDir state;
  const TempDir temp;
  fs::create_directory(temp / "drive");
  const pid_t child = fork();
  if (child == 0) {
    WorkDirectory directory(temp / "drive", kVolume);
    directory.take();
    _exit(0);  // no destructor runs, as with SIGKILL
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  fs::rename(temp / "drive", temp / "away");
  fs::create_directory(temp / "drive");  // the mount point
  for (const ListedLease& leftover : remove_leftovers())
    CHECK(leftover.state == LeaseState::unseen);
  fs::remove(temp / "drive");
  fs::rename(temp / "away", temp / "drive");
  CHECK(remove_leftovers().size() == 1);
  CHECK(fs::is_empty(temp / "drive"));
  CHECK(list_leases().empty());
}

TEST_CASE("a working directory that cannot be removed stays on the list") {
  if (geteuid() != 0) return skipped("needs root");
  const StateDir state;
  const TempDir temp;
  {
    WorkDirectory directory(temp.path(), kVolume);
    directory.take();
    if (system(("chattr +a '" + temp.path() + "' 2>/dev/null").c_str()) != 0) {
      return skipped("needs chattr on this file system");
    }
    CHECK_THROWS_AS(directory.remove(), Error);
  }
  REQUIRE(system(("chattr -a '" + temp.path() + "'").c_str()) == 0);
  CHECK(list_leases().size() == 1);
  remove_leftovers();
  CHECK(fs::is_empty(temp.path()));
}

TEST_CASE("a copy of a kept directory is the user's") {
  const StateDir state;
  const TempDir temp;
  keep_tree(temp / "a");
  REQUIRE(system(("cp -a '" + (temp / "a") + "' '" + (temp / "b") + "'").c_str()) == 0);
  CHECK_FALSE(refusal(temp / "b").empty());
  fs::remove_all(temp / "a");
  fs::rename(temp / "b", temp / "a");
  CHECK_FALSE(refusal(temp / "a").empty());
  CHECK(text_in(temp / "a/g") == "made");
}

TEST_CASE("a directory that filereel has no lease of is refused") {
  const StateDir state;
  const TempDir temp;
  write_to(temp / "mine");
  CHECK(refusal(temp.path()) == temp.path() +
                                    " is not empty and was not filled by filereel (it contains "
                                    "mine); choose an empty directory");
  write_to(temp / ".filereel-volume", "filereel works here.\nmine\n");
  CHECK(refusal(temp.path()).find("earlier version") != std::string::npos);
  CHECK(text_in(temp / "mine") == "x");
  CHECK(fs::exists(temp / ".filereel-volume"));
}

TEST_CASE("a directory of ext4 is empty but for lost+found") {
  const StateDir state;
  const TempDir temp;
  mkdir((temp / "lost+found").c_str(), 0000);
  keep_tree(temp.path());
  CHECK(refusal(temp.path()).empty());
  CHECK(fs::exists(temp / "lost+found"));
}

TEST_CASE(
    "what is not a volume is the user's as soon as it is kept, and needs an empty directory") {
  const StateDir state;
  const TempDir temp;
  for (const char* const name : {"a", "b"}) {
    WorkDirectory directory(temp / name, WorkDirectory::Use::tree);
    directory.take();
    make_in(directory.root(), "f");
    directory.keep();
  }
  CHECK(list_leases().empty());
  CHECK_FALSE(refusal(temp / "a").empty());
  keep_tree(temp / "c");
  CHECK_THROWS_AS(WorkDirectory(temp / "c", WorkDirectory::Use::tree), Error);
  CHECK(text_in(temp / "c/g") == "made");
}

TEST_CASE("a directory in use is refused") {
  const StateDir state;
  const TempDir temp;
  WorkDirectory first(temp.path(), kVolume);
  first.take();
  CHECK(refusal(temp.path()) ==
        temp.path() +
            " is in use by another filereel; wait for it to end, or choose another volume");
  CHECK_NOTHROW(first.check_present());
}

TEST_CASE("what somebody puts beside the work stays") {
  const StateDir state;
  const TempDir temp;
  {
    WorkDirectory directory(temp / "v", kVolume);
    directory.take();
    make_in(directory.root(), "f");
    write_to(temp / "v/mine");
    directory.clear();
    make_in(directory.root(), "f");
    write_to(temp / "v/f", "mine");
    CHECK_THROWS_AS(directory.keep(), Error);  // there is an f
  }
  CHECK(text_in(temp / "v/mine") == "x");
  CHECK(text_in(temp / "v/f") == "mine");
}

TEST_CASE("a directory that takes the place of the one in use is not touched") {
  const StateDir state;
  const TempDir temp;
  for (const bool keep : {false, true}) {
    fs::create_directories(temp / "v");
    fs::create_directories(temp / "other/original");
    write_to(temp / "other/original/f");
    WorkDirectory directory(temp / "v", kVolume);
    directory.take();
    make_in(directory.root(), "f");
    fs::rename(temp / "v", temp / "moved");
    fs::rename(temp / "other", temp / "v");
    CHECK_THROWS_AS(directory.check_present(), Error);
    directory.clear();
    keep ? directory.keep() : directory.remove();
    CHECK(text_in(temp / "v/original/f") == "x");
    CHECK(fs::is_empty(temp / "moved"));
    fs::remove_all(temp / "v");
    fs::remove_all(temp / "moved");
  }
}

TEST_CASE("a directory that takes the place of the work itself is not touched") {
  const StateDir state;
  const TempDir temp;
  {
    WorkDirectory directory(temp.path(), kVolume);
    directory.take();
    const auto names = names_in(directory.target());
    REQUIRE(names);
    REQUIRE(names->size() == 1);
    fs::rename(temp / names->front(), temp / "moved");
    fs::create_directory(temp / names->front());
    CHECK_THROWS_AS(directory.check_present(), Error);
    write_to(temp / (names->front() + "/mine"));
  }
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(temp.path())) {
    if (entry.path().filename() == "mine") ++files;
  }
  CHECK(files == 1);
}

TEST_CASE("what a killed process left goes, and nothing beside it") {
  const StateDir state;
  const TempDir temp;
  write_to(temp / "mine");
  const pid_t child = fork();
  if (child == 0) {
    WorkDirectory directory(temp / "v", kVolume);
    directory.take();
    if (mkdirat(directory.root(), "d", 0755) != 0) _exit(1);
    _exit(0);  // no destructor runs, as with SIGKILL
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  const auto listed = list_leases();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].note.kind == LeaseKind::directory);
  CHECK(listed[1].note.kind == LeaseKind::work);
  CHECK(listed[1].state == LeaseState::left);
  SUBCASE("all") {
    for (const ListedLease& leftover : remove_leftovers())
      CHECK(leftover.state == LeaseState::removed);
    CHECK_FALSE(fs::exists(temp / "v"));
  }
  SUBCASE("but what the user added") {
    write_to(temp / "v/mine");
    remove_leftovers();
    CHECK(text_in(temp / "v/mine") == "x");
    CHECK(std::distance(fs::directory_iterator(temp / "v"), fs::directory_iterator()) == 1);
  }
  SUBCASE("but a copy in its place") {
    const std::string work = listed[1].note.path;
    REQUIRE(system(("cp -a '" + work + "' '" + work + "2' && rm -r '" + work + "' && mv '" + work +
                    "2' '" + work + "'")
                       .c_str()) == 0);
    remove_leftovers();
    CHECK(fs::exists(work + "/d"));
  }
  SUBCASE("later, where it cannot be seen now") {
    fs::rename(temp / "v", temp / "w");
    for (const ListedLease& lease : remove_leftovers()) {
      CHECK(lease.state != LeaseState::removed);
    }
    CHECK(fs::exists(temp / "w"));
  }
  CHECK(fs::exists(temp / "mine"));
}

TEST_CASE("directories are not made among devices or in the kernel's own trees") {
  const StateDir state;
  for (const std::string path : {"/dev/nosuchdisk", "/dev/mapper/x", "/proc/x", "/sys/x"}) {
    try {
      WorkDirectory directory(path, kVolume);
      directory.take();
      FAIL("made ", path);
    } catch (const Error& error) {
      CHECK_MESSAGE(std::string(error.what()).find(path) != std::string::npos, error.what());
    }
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(list_leases().empty());
}

}  // namespace
}  // namespace filereel
