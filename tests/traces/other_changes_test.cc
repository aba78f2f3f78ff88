#include "traces/check/other_changes.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "bpf_events.h"
#include "filesets/system/descriptor.h"
#include "tests/temp_dir.h"
#include "traces/record/bpf/bpf_receiver.h"

namespace filereel {
namespace {

namespace fs = std::filesystem;

Descriptor opened(const fs::path& path) {
  return Descriptor(open(path.c_str(), O_PATH | O_CLOEXEC));
}

TEST_CASE("a change by another process is found by name, through links, and by file") {
  const TempDir folder;
  fs::create_directory(folder / "d");
  fs::create_directory_symlink("d", folder / "link");
  std::ofstream(folder / "d/a") << "content";
  struct stat real{};
  REQUIRE(stat((folder / "d/a").c_str(), &real) == 0);
  OtherChanges changes;
  changes.add({.path = folder / "link/gone", .program = "rm", .process = 5, .at_ns = 1100});
  changes.add({.path = folder / "d/old", .program = "early", .process = 6, .at_ns = 900});
  changes.add({.path = folder / "elsewhere/a",
               .program = "log",
               .process = 7,
               .at_ns = 1200,
               .device = real.st_dev,
               .inode = real.st_ino});
  changes.begin_at(1000);
  const Descriptor top = opened(fs::path(folder.path())), d = opened(fs::path(folder / "d"));
  const OtherChange* gone = changes.find(d.get(), "gone", nullptr);
  REQUIRE(gone);
  CHECK(gone->program == "rm");
  CHECK(gone->at_ns == 100);
  CHECK(!changes.find(top.get(), "gone", nullptr));
  CHECK(!changes.find(d.get(), "old", nullptr));
  CHECK(!changes.find(d.get(), "a", nullptr));
  // A file that was open before can be changed again.
  changes.add({.path = folder / "d/log", .program = "log", .device = 1, .inode = 2});
  changes.begin_at(5000);
  CHECK(changes.find(d.get(), "log", nullptr));
  REQUIRE(changes.find(d.get(), "a", &real));
  CHECK(changes.find(d.get(), "a", &real)->process == 7);
}

TEST_CASE("events of other processes give absolute paths") {
  OtherChanges changes;
  const auto event = [] {
    std::uint64_t name[2] = {0, 0};
    std::string("mv").copy(reinterpret_cast<char*>(name), sizeof name);
    return BpfEvent(EVENT_OTHER).with({name[0], name[1]});
  };
  const TempDir folder;
  fs::create_directory(folder / "d");
  const std::string base = folder.path();
  CHECK(add_other_changes(
      event().path("d/../x").real(0, base).path2(base + "/d/y/").real(1, "/nowhere").bytes(),
      changes));
  CHECK(add_other_changes(event().real(0, base + "/z", PART_DELETED).bytes(), changes));
  const Descriptor top = opened(fs::path(folder.path())), d = opened(fs::path(folder / "d"));
  REQUIRE(changes.find(top.get(), "x", nullptr));
  CHECK(changes.find(top.get(), "x", nullptr)->program == "mv");
  CHECK(changes.find(d.get(), "y", nullptr));
  CHECK(changes.find(top.get(), "z", nullptr));
  CHECK(!add_other_changes(BpfEvent(EVENT_EXIT).bytes(), changes));
}

}  // namespace
}  // namespace filereel
