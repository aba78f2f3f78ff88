// A made-up /sys (and /run/udev/data) for tests of what reads the kernel's.
#pragma once

#include <fstream>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <fmt/format.h>

#include "replay/volumes/device_identity.h"
#include "tests/temp_dir.h"

class SysfsTree {
 public:
  std::string sys() const { return temp_.path() + "/sys"; }
  filereel::DeviceSources sources() const {
    filereel::DeviceSources sources;
    sources.sys = sys();
    sources.udev = temp_.path() + "/udev";
    sources.storage_of = [](const std::string&) { return filereel::FileStorage{}; };
    sources.dm_targets = [](const std::string&) { return std::vector<filereel::DmTarget>(); };
    return sources;
  }

  void file(const std::string& path, const std::string& text) const {
    write(sys() + "/" + path, text);
  }
  void udev(const std::string& number, const std::string& text) const {
    write(temp_.path() + "/udev/b" + number, text);
  }
  void link(const std::string& path, const std::string& to) const {
    const boost::filesystem::path full(sys() + "/" + path);
    boost::filesystem::create_directories(full.parent_path());
    boost::filesystem::create_symlink(sys() + "/" + to, full);
  }

  // A block device at `path`, such as "devices/virtual/block/dm-0".
  void device(const std::string& path, const std::string& number, std::uint64_t sectors = 8) const {
    file(path + "/dev", number + "\n");
    file(path + "/size", fmt::format("{}\n", sectors));
    link("dev/block/" + number, path);
  }
  void partition(const std::string& path, const std::string& number) const {
    device(path, number);
    file(path + "/partition", "1\n");
  }
  void slave(const std::string& path, const std::string& of) const {
    link(path + "/slaves/" + boost::filesystem::path(of).filename().string(), of);
  }

 private:
  static void write(const boost::filesystem::path& path, const std::string& text) {
    boost::filesystem::create_directories(path.parent_path());
    std::ofstream out(path.string(), std::ios::binary);
    out << text;
    REQUIRE(out.flush().good());
  }

  TempDir temp_;
};
