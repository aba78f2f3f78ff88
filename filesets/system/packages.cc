#include "filesets/system/packages.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr ProgramPackages same(std::string_view program, std::string_view package) {
  return {program, {package, package, package, package, package}};
}

// Those of apt are installed by the tests on Debian; the others are from the specifications of
// Fedora's, openSUSE's and Alpine's packages and Arch's package search (2026). The FUSE driver of
// exFAT is in another repository of Fedora (RPM Fusion), and in a package of Arch that excludes
// exfatprogs. mpirun of Fedora and openSUSE is not in PATH at first (docs/platforms.md).
constexpr auto kPrograms = std::to_array<ProgramPackages>({
    same("mkfs.ext4", "e2fsprogs"),
    {"fuse2fs", {"fuse2fs", "e2fsprogs", "fuse2fs", "fuse2fs", "fuse2fs"}},
    {"mkfs.ntfs", {"ntfs-3g", "ntfsprogs", "ntfsprogs", "ntfsprogs", "ntfs-3g-progs"}},
    same("ntfs-3g", "ntfs-3g"),
    same("mkfs.vfat", "dosfstools"),
    {"fusefat", {"fusefat", "", "", "", ""}},
    same("mkfs.exfat", "exfatprogs"),
    {"mount.exfat-fuse", {"exfat-fuse", "", "", "fuse-exfat", "fuse-exfat"}},
    same("mkfs.xfs", "xfsprogs"),
    {"mkfs.btrfs", {"btrfs-progs", "btrfs-progs", "btrfs-progs", "btrfsprogs", "btrfs-progs"}},
    same("strace", "strace"),
    same("fio", "fio"),
    same("modprobe", "kmod"),
    {"sh", {"dash", "bash", "bash", "bash", "busybox-binsh"}},
    {"mpirun", {"openmpi-bin", "openmpi", "openmpi", "openmpi4", "openmpi"}},
});

constexpr std::array<std::string_view, kPackageManagers.size()> kInstall = {
    "apt-get install", "dnf install", "pacman -S", "zypper install", "apk add"};

// Values of ID and ID_LIKE in os-release.
struct Distribution {
  std::string_view id;
  PackageManager manager;
};

constexpr auto kDistributions = std::to_array<Distribution>({
    {"debian", PackageManager::apt},
    {"ubuntu", PackageManager::apt},
    {"fedora", PackageManager::dnf},
    {"rhel", PackageManager::dnf},
    {"arch", PackageManager::pacman},
    {"suse", PackageManager::zypper},
    {"opensuse", PackageManager::zypper},
    {"alpine", PackageManager::apk},
});

// The distribution, then those that it is derived from: the words of ID and ID_LIKE.
std::vector<std::string> distribution_ids(std::string_view os_release) {
  std::vector<std::string> ids;
  for (const std::string_view key : {"ID=", "ID_LIKE="}) {
    for (std::size_t begin = 0; begin < os_release.size();) {
      const std::size_t end = std::min(os_release.find('\n', begin), os_release.size());
      std::string line(os_release.substr(begin, end - begin));
      begin = end + 1;
      if (!line.starts_with(key)) continue;
      line.erase(0, key.size());
      std::ranges::replace_if(line, [](char c) { return c == '"' || c == '\''; }, ' ');
      std::istringstream words(line);
      std::copy(std::istream_iterator<std::string>(words), {}, std::back_inserter(ids));
    }
  }
  return ids;
}

}  // namespace

const ProgramPackages* find_packages(std::string_view program) {
  return find_or_null(kPrograms, program, &ProgramPackages::program);
}

std::optional<PackageManager> package_manager_in(std::string_view os_release) {
  for (const std::string& id : distribution_ids(os_release)) {
    if (const auto* found = find_or_null(kDistributions, id, &Distribution::id)) {
      return found->manager;
    }
  }
  return std::nullopt;
}

Installation installation_of(std::span<const std::string_view> programs, PackageManager manager) {
  const auto column = static_cast<std::size_t>(manager);
  Installation installation;
  std::string packages;
  std::set<std::string_view> named;
  for (const std::string_view program : programs) {
    const ProgramPackages* known = find_packages(program);
    const std::string_view package = known == nullptr ? "" : known->packages[column];
    if (package.empty()) {
      installation.without.push_back(program);
    } else if (named.insert(package).second) {
      packages += fmt::format(" {}", package);
    }
  }
  if (!packages.empty()) installation.command = fmt::format("{}{}", kInstall[column], packages);
  return installation;
}

std::string install_advice(std::string_view program) {
  const std::optional<PackageManager> manager = package_manager_here();
  if (!manager) return "install it";
  const Installation installation = installation_of({&program, 1}, *manager);
  return installation.command.empty() ? "install it" : "run " + installation.command;
}

std::optional<PackageManager> package_manager_here() {
  std::ifstream file("/etc/os-release");
  return package_manager_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace filereel
