#include "replay/volumes/loop_device.h"

#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/directory_names.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/path_kind.h"

namespace filereel {
namespace {

constexpr const char* kControl = "/dev/loop-control";

// Compares inodes, because the name in sysfs differs in a chroot or container.
bool is_attached_to(const std::string& path, const struct stat& file) {
  const Descriptor device(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  loop_info64 info{};
  return device && ioctl(device.get(), LOOP_GET_STATUS64, &info) == 0 &&
         info.lo_inode == file.st_ino && info.lo_device == file.st_dev;
}

}  // namespace

LoopDevice::LoopDevice(int image, const std::string& name, const LoopRange& range) {
  const auto fail = [&](std::string_view step) {
    const int error = errno;
    throw Error(ErrorKind::failed, fmt::format("cannot set up a loop device for {}: {}: {}", name,
                                               step, error_text(error)));
  };
  const Descriptor control(open(kControl, O_RDWR | O_CLOEXEC));
  if (!control) fail(kControl);

  // Another process may take the free device first: then try the next one.
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) fail("no free loop device");
    std::string path = fmt::format("/dev/loop{}", number);
    Descriptor device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device) fail(path);

    for (const bool direct : {true, false}) {
      loop_config config{};
      config.fd = static_cast<unsigned>(image);
      config.block_size = range.block_size;
      config.info.lo_offset = range.start;
      config.info.lo_sizelimit = range.size;
      config.info.lo_flags = direct ? LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO : LO_FLAGS_AUTOCLEAR;
      if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) {
        path_ = std::move(path);
        device_ = std::move(device);
        copy_read_ahead(image);
        return;
      }
      if (errno == EBUSY) break;
    }
    if (errno != EBUSY) fail(path);
  }
  fail("other processes took every free device");
}

LoopDevice::~LoopDevice() {
  if (own_read_ahead_) ioctl(device_.get(), BLKRASET, *own_read_ahead_);
}

void LoopDevice::copy_read_ahead(int device) {
  long of_device = 0, own = 0;                           // in units of 512 bytes
  if (ioctl(device, BLKRAGET, &of_device) != 0) return;  // a file
  if (ioctl(device_.get(), BLKRAGET, &own) != 0) return;
  if (ioctl(device_.get(), BLKRASET, of_device) == 0) own_read_ahead_ = own;
}

dev_t LoopDevice::number() const {
  struct stat info{};
  return fstat(device_.get(), &info) == 0 ? info.st_rdev : 0;
}

bool loop_devices_available() {
  return access(kControl, R_OK | W_OK) == 0;
}

std::string loop_device_of(int image) {
  struct stat wanted{};
  if (fstat(image, &wanted) != 0) return "";
  for (const std::string& name : names_at("/sys/block")) {
    if (!path_exists("/sys/block/" + name + "/loop")) continue;
    const std::string path = "/dev/" + name;
    if (is_attached_to(path, wanted)) return path;
  }
  return "";
}

}  // namespace filereel
