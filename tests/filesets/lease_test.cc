#include "filesets/ownership/lease.h"

#include <fstream>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "tests/state_dir.h"

namespace filereel {
namespace {

std::vector<FoundLease> all() {
  return find_leases([](const LeaseRecord&) { return true; });
}

LeaseRecord full_note(LeaseKind kind) {
  LeaseRecord note{
      .kind = kind, .path = "/a b\n\xff\\c", .made = FileIdentity{12, -5}, .parent = {3, 4}};
  note.share = kind == LeaseKind::tree ? "me@nas:/my data on /mnt/nas" : "";
  note.proof = kind == LeaseKind::work ? "0123456789abcdef" : "";
  note.mounted = kind == LeaseKind::mount_point ? 77 : 0;
  if (kind == LeaseKind::image) {
    note.size = 1 << 20;
    note.modified_ns = -1;
    note.changed_ns = INT64_MAX;
    note.file_system = "ext4 1234-\n";
  }
  if (kind == LeaseKind::tree) {
    note.seed = UINT64_MAX;
    note.entries = {0, 1, UINT64_MAX};
  }
  return note;
}

TEST_CASE("what a lease says comes back from its text") {
  for (int kind = 0; kind <= static_cast<int>(LeaseKind::tree); ++kind) {
    LeaseRecord note = full_note(static_cast<LeaseKind>(kind));
    CHECK(parse_lease(format_lease(note)) == note);
    note.made.reset();
    CHECK(parse_lease(format_lease(note)) == note);
  }
}

TEST_CASE("a torn lease says nothing") {
  const std::string text = format_lease(full_note(LeaseKind::tree));
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK_FALSE(parse_lease(text.substr(0, size)));
  }
  CHECK_FALSE(parse_lease(text + "more\n"));
}

TEST_CASE("a lease that makes no sense says nothing") {
  const auto lease = [](const std::string& lines) {
    return parse_lease("filereel lease 1\n" + lines + "end\n");
  };
  CHECK(lease("kind file\npath /a\n"));
  CHECK_FALSE(parse_lease("filereel lease 2\nkind file\npath /a\nend\n"));
  for (const char* const lines :
       {"kind", "kind sword\n", "path a\n", "path \\x\n", "inode x\n", "inode 1 2\n", "inode -1\n",
        "born 1\n", "inode 1\nborn 99999999999999999999\n", "times 1\n", "entries 12 \n",
        "entries 0000000000000002 0000000000000001 \n", "entries 000000000000000g \n", "more 1\n",
        "proof ../a\n", "\n"}) {
    CHECK_MESSAGE(!lease(lines), lines);
  }
}

TEST_CASE("a lease is on the list until it is struck off") {
  const StateDir state;
  CHECK(all().empty());
  {
    Lease lease({.kind = LeaseKind::work, .path = "/x"});
    lease.made({1, 2});
    const auto found = all();
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].lease);  // this process has it
    CHECK(found[0].note.made == FileIdentity{1, 2});
  }
  {
    auto found = all();
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].lease);  // nobody has it now
    CHECK(found[0].note.path == "/x");
    found[0].lease->remove_record();
    found[0].lease->remove_record();
  }
  CHECK(all().empty());
  CHECK(boost::filesystem::is_empty(state.path()));
}

TEST_CASE("the entries of a tree come when they are asked for, unless they are torn") {
  const StateDir state;
  LeaseRecord note = full_note(LeaseKind::tree);
  note.path = '/' + std::string(4094, '\n');
  note.entries.resize(100'000, UINT64_MAX);
  const Lease unused(note);
  const std::string file = boost::filesystem::directory_iterator(state.path())->path().string();
  const auto locked = all();
  REQUIRE(locked.size() == 1);
  CHECK_FALSE(locked[0].lease);
  boost::filesystem::copy_file(file, file + "0");  // which nobody has locked
  const auto found = all();
  REQUIRE(found.size() == 2);
  const FoundLease& copy = found[found[0].lease ? 0 : 1];
  REQUIRE(copy.lease);
  CHECK(copy.note.path == note.path);
  CHECK(copy.note.seed == note.seed);
  CHECK(copy.note.entries.empty());
  CHECK(copy.lease->entries() == note.entries);
  boost::filesystem::resize_file(file + "0", boost::filesystem::file_size(file) - 1);
  CHECK(copy.lease->entries().empty());
}

TEST_CASE("the lease of a killed process is found, and is another's as long as it lives") {
  const StateDir state;
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const Lease lease({.kind = LeaseKind::image, .path = "/x"});
    if (write(pipe_ends[1], "", 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(pipe_ends[0], &byte, 1) == 1);
  REQUIRE(all().size() == 1);
  CHECK_FALSE(all()[0].lease);
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(all()[0].lease);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_CASE("what is no lease in the state directory stays and is passed over") {
  const StateDir state;
  std::ofstream(state / "notes") << "mine";
  boost::filesystem::create_directory(state / "folder");
  REQUIRE(mkfifo((state / "fifo").c_str(), 0600) == 0);
  REQUIRE(symlink("notes", (state / "link").c_str()) == 0);
  CHECK(all().empty());
  CHECK(boost::filesystem::exists(state / "notes"));
}

TEST_CASE("files of the user's in the state directory stay, however old") {
  const StateDir state;
  for (const char* const name : {"new-year.txt", "filereel-new-plan", "0123456789abcdef"}) {
    std::ofstream(state / name) << "mine";
    REQUIRE(system(("touch -d 2001-01-01 '" + (state / name) + "'").c_str()) == 0);
  }
  CHECK(all().empty());
  CHECK(std::distance(boost::filesystem::directory_iterator(state.path()),
                      boost::filesystem::directory_iterator()) == 3);
}

TEST_CASE("a state directory that others can write, or that is a link, is refused") {
  const StateDir state;
  const auto refused = [] {
    CHECK_THROWS_AS(open_state_directory(), Error);
    CHECK_THROWS_AS(Lease({.kind = LeaseKind::file, .path = "/x"}), Error);
    CHECK_THROWS_AS(all(), Error);
  };
  chmod(state.path().c_str(), 0770);
  refused();
  chmod(state.path().c_str(), 0702);
  refused();
  chmod(state.path().c_str(), 0700);
  CHECK_NOTHROW(open_state_directory());
  boost::filesystem::create_directory(state / "other");
  REQUIRE(symlink("other", (state / "link").c_str()) == 0);
  setenv("FILEREEL_STATE_DIR", (state / "link").c_str(), 1);
  refused();
  setenv("FILEREEL_STATE_DIR", "/proc/none", 1);
  refused();
}

TEST_CASE("a state directory is made for its owner alone") {
  const StateDir state;
  const mode_t before = umask(002);
  setenv("FILEREEL_STATE_DIR", (state / "a/b/").c_str(), 1);
  CHECK(open_state_directory().path == state / "a/b");
  umask(before);
  struct stat info{};
  REQUIRE(stat((state / "a/b").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0700);
}

}  // namespace
}  // namespace filereel
