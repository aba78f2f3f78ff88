#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/programs.h"

namespace filereel {
namespace {

Installation installation(std::initializer_list<std::string_view> programs,
                          PackageManager manager) {
  return installation_of(std::vector<std::string_view>(programs), manager);
}

std::string command(std::initializer_list<std::string_view> programs, PackageManager manager) {
  return installation(programs, manager).command;
}

TEST_CASE("the package manager is that of the distribution, or of the one that it derives from") {
  CHECK(package_manager_in("NAME=\"Debian GNU/Linux\"\nID=debian\n") == PackageManager::apt);
  CHECK(package_manager_in("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n") == PackageManager::apt);
  CHECK(package_manager_in("ID=fedora") == PackageManager::dnf);
  CHECK(package_manager_in("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n") ==
        PackageManager::dnf);
  CHECK(package_manager_in("ID_LIKE=arch\nID=endeavouros\n") == PackageManager::pacman);
  CHECK(package_manager_in("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n") ==
        PackageManager::zypper);
  CHECK(package_manager_in("ID=alpine\n") == PackageManager::apk);
}

TEST_CASE("an unknown distribution has no package manager") {
  CHECK_FALSE(package_manager_in(""));
  CHECK_FALSE(package_manager_in("ID=gentoo\nVERSION_ID=debian\n"));
  CHECK_FALSE(package_manager_in("# ID=debian\nBUILD_ID=debian\n"));
}

TEST_CASE(
    "the command that installs programs names each package once, as the distribution calls it") {
  CHECK(command({"mkfs.ntfs", "ntfs-3g"}, PackageManager::apt) == "apt-get install ntfs-3g");
  CHECK(command({"mkfs.ntfs", "ntfs-3g"}, PackageManager::dnf) == "dnf install ntfsprogs ntfs-3g");
  CHECK(command({"mkfs.btrfs"}, PackageManager::zypper) == "zypper install btrfsprogs");
  CHECK(command({"mkfs.ext4", "strace"}, PackageManager::pacman) == "pacman -S e2fsprogs strace");
  CHECK(command({"mkfs.ntfs"}, PackageManager::apk) == "apk add ntfs-3g-progs");
}

TEST_CASE("programs that no package has are named") {
  const Installation found = installation({"mkfs.vfat", "fusefat"}, PackageManager::dnf);
  CHECK(found.command == "dnf install dosfstools");
  CHECK(found.without == std::vector<std::string_view>{"fusefat"});
  CHECK(command({"no-such-program-filereel"}, PackageManager::apt).empty());
}

}  // namespace
}  // namespace filereel
