#include <fstream>
#include <optional>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/mounts.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

RemoteMounts mounts_at(const TempDir& temp) {
  std::ofstream(temp / "mountinfo")
      << "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      << "30 20 0:40 / " << temp / "nas" << " rw - nfs4 nas:/data rw\n"
      << "31 20 0:41 / " << temp / "ssh" << " rw - fuse.sshfs me@nas:/home rw\n"
      << "32 20 8:17 / " << temp / "stick" << " rw - fuseblk /dev/sdb1 rw\n"
      << "33 30 8:33 / " << temp / "nas/local" << " rw - ext4 /dev/sdc1 rw\n"
      << "34 20 0:50 / " << temp / "auto" << " rw - autofs systemd-1 rw\n"
      << "35 34 8:49 / " << temp / "auto" << " rw - ext4 /dev/sdd1 rw\n";
  return RemoteMounts(temp / "mountinfo");
}

TEST_CASE("mounts that may hang are found by names and links alone") {
  const TempDir temp;
  const RemoteMounts remote = mounts_at(temp);
  const auto at = [&](const std::string& path) {
    const auto found = remote.on_way_to(path);
    return found ? found->mount_point : "";
  };
  CHECK(at("/").empty());
  CHECK(at(temp / "nasty").empty());
  CHECK(at(temp / "auto/a").empty());  // mounted over the automounter
  CHECK(at(temp / "nas") == temp / "nas");
  CHECK(at(temp / "nas/a/b") == temp / "nas");
  CHECK(at(temp / "nas/local/b") == temp / "nas");  // on the way
  CHECK(at(temp / "other/../nas//./a") == temp / "nas");
  fs::create_directory(temp / "here");
  fs::create_symlink(temp / "nas/a", temp / "here/link");
  fs::create_symlink("here/link", temp / "link");
  fs::create_symlink("loop", temp / "loop");
  CHECK(at(temp / "link/b") == temp / "nas");
  CHECK(at(temp / "loop/b").empty());

  CHECK(remote.share_at(temp / "ssh/a") == "me@nas:/home on " + (temp / "ssh"));
  CHECK(remote.share_at(temp / "stick/a").empty());  // another one may be there later
  CHECK(remote.share_at(temp / "here").empty());
}

TEST_CASE("what ends calls that wait for a mount depends on its kind") {
  const TempDir temp;
  const RemoteMounts remote = mounts_at(temp);
  const MountedFileSystem nfs = remote.on_way_to(temp / "nas").value();
  const MountedFileSystem fuse = remote.on_way_to(temp / "ssh").value();
  CHECK(silence_text(nfs) == temp / "nas" + " (nfs4) does not respond");
  CHECK(release_advice(nfs) == "'umount -f " + temp / "nas" + "'");
  CHECK(release_advice(fuse).ends_with("'echo 1 > /sys/fs/fuse/connections/41/abort'"));
}

TEST_CASE("work that takes too long is left behind, from then on for its mount") {
  const TempDir temp;
  RemoteMounts remote = mounts_at(temp);
  const auto hang = [] {
    ::pause();
    return std::string("late");
  };
  const auto answer = [] { return std::string("soon"); };
  CHECK(remote.ask(temp / "nas/a", answer) == "soon");
  CHECK_FALSE(remote.ask(temp / "nas/a", hang));
  CHECK_FALSE(remote.ask(temp / "nas/b", answer));
  CHECK(remote.ask(temp / "ssh/a", answer) == "soon");
  CHECK(remote.ask(temp / "here", answer) == "soon");
}

TEST_CASE("work in a child process holds no locks, and its end without an answer is noticed") {
  const TempDir temp;
  const auto open_file = [&] {
    return Descriptor(::open((temp / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  };
  {
    const Descriptor lock = open_file();
    REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
    CHECK(run_apart([&] { return std::to_string(::fcntl(lock.get(), F_GETFD)); }, 10) == "-1");
  }
  CHECK(run_apart([] { return std::string(); }, 10) == "");
  CHECK(run_apart([] { return std::string(100'000, 'x'); }, 10) == std::string(100'000, 'x'));
  CHECK_FALSE(run_apart(
      []() -> std::string {
        ::raise(SIGKILL);
        return "";
      },
      10));
  int asked = 0;
  const auto slow = [] {
    ::usleep(100'000);
    return std::string("done");
  };
  CHECK(run_apart(slow, 0.01, [&] { return ++asked < 1000; }) == "done");
  CHECK(asked > 0);
}

}  // namespace
}  // namespace filereel
