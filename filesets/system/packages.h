// The programs that filereel starts, and the packages with them in the distributions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

enum class PackageManager : std::uint8_t { apt, dnf, pacman, zypper, apk };

inline constexpr std::array<std::string_view, 5> kPackageManagers = {"apt", "dnf", "pacman",
                                                                     "zypper", "apk"};

struct ProgramPackages {
  std::string_view program;
  // By package manager; "": its distributions have no package with the program.
  std::array<std::string_view, kPackageManagers.size()> packages;
};

// Returns null for programs that are not in the table.
const ProgramPackages* find_packages(std::string_view program);

// The package manager of the distribution described by the text of an os-release(5) file.
std::optional<PackageManager> package_manager_in(std::string_view os_release);

struct Installation {
  std::string command;                    // "dnf install ntfsprogs ntfs-3g"; "" without any package
  std::vector<std::string_view> without;  // programs that no package has
};

Installation installation_of(std::span<const std::string_view> programs, PackageManager manager);

// Returns what to do about a missing program on this machine: "run apt-get install fio", or
// "install it".
std::string install_advice(std::string_view program);

// The package manager of this machine, by /etc/os-release.
std::optional<PackageManager> package_manager_here();

}  // namespace filereel
