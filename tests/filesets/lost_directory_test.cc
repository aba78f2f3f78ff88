#include <string>
#include <utility>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/leftovers.h"
#include "filesets/ownership/work_directory.h"
#include "filesets/system/error.h"
#include "tests/skipped.h"
#include "tests/state_dir.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

std::string refusal_of_work(const std::string& path) {
  try {
    const WorkDirectory directory(path, WorkDirectory::Use::volume);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("what became of a directory during its use is named") {
  const StateDir state;
  const TempDir temp;
  const auto fate = [&](const auto& change) {
    WorkDirectory directory(temp / "v", WorkDirectory::Use::volume);
    directory.take();
    change(directory);
    std::string text;
    try {
      directory.check_present();
    } catch (const Error& error) {
      text = error.what();
    }
    fs::remove_all(temp / "v");
    fs::remove_all(temp / "moved");
    return text;
  };
  const std::string rest =
      " by another program during the run; keep other programs out of it and "
      "restart the run";
  CHECK(fate([](const WorkDirectory&) {}).empty());
  CHECK(fate([&](const WorkDirectory&) { fs::remove_all(temp / "v"); }) ==
        temp / "v" + " was removed" + rest);
  CHECK(fate([&](const WorkDirectory&) { fs::rename(temp / "v", temp / "moved"); }) ==
        temp / "v" + " was renamed to " + (temp / "moved") + rest);
  CHECK(fate([&](const WorkDirectory&) {
          fs::rename(temp / "v", temp / "moved");
          fs::create_directory(temp / "v");
        }) == temp / "v" + " was renamed to " + (temp / "moved") + rest);
  std::string name;
  const std::string removed = fate([&](const WorkDirectory& directory) {
    name = directory.name();
    fs::remove_all(temp / "v/" + name);
  });
  CHECK(removed == temp / "v/" + name + " was removed" + rest);
  const std::string renamed = fate([&](const WorkDirectory& directory) {
    name = directory.name();
    fs::rename(temp / "v/" + name, temp / "v/other");
  });
  CHECK(renamed == temp / "v/" + name + " was renamed to " + (temp / "v/other") + rest);
}

TEST_CASE("a directory in which nothing can be made or removed is refused before any work") {
  const StateDir state;
  const TempDir temp;
  fs::create_directory(temp / "v");
  const Descriptor directory(open((temp / "v").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const auto& [attribute, words] :
       {std::pair{FS_IMMUTABLE_FL, "is immutable (chattr +i): nothing in it can be created"},
        std::pair{FS_APPEND_FL, "is append-only (chattr +a): nothing in it can be removed"}}) {
    int attributes = attribute;
    if (ioctl(directory.get(), FS_IOC_SETFLAGS, &attributes) != 0) return skipped("chattr +i");
    const std::string itself = refusal_of_work(temp / "v"), below = refusal_of_work(temp / "v/new");
    attributes = 0;
    ioctl(directory.get(), FS_IOC_SETFLAGS, &attributes);
    CHECK(itself.find(words) != std::string::npos);
    CHECK(below.find(words) != std::string::npos);
    CHECK(fs::is_empty(temp / "v"));
  }
  CHECK(list_leases().empty());
}

}  // namespace
}  // namespace filereel
