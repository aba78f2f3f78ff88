// Probes the io_uring features of this system.
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/privileges.h"
#include "filesets/system/read_file.h"
#include "replay/engine/content_buffer.h"
#include "replay/engine/engine_kind.h"
#include "replay/engine/uring_ring.h"

namespace filereel {
namespace {

std::string no_polling(const std::string& why) {
  return fmt::format(
      "completions are not polled ({}): requests complete by interrupts; polling needs a device "
      "whose driver has polling queues, such as NVMe with nvme.poll_queues=2",
      why);
}

// Reads `file` with direct I/O by a polled request; returns the result.
std::int64_t read_polled(int file, const Buffer& buffer) {
  Ring ring(1, true);
  ring.begin();
  ring.queue_read({file, false}, buffer.first(buffer.size()), 0, nullptr);
  std::int64_t got = 0;
  const auto see = [&got](void*, std::int64_t result) { got = result; };
  do {
    if (const int result = ring.submit(1); result < 0) return result;
  } while (ring.reap(see) == 0);
  return got;
}

}  // namespace

std::optional<std::string> uring_unavailable_reason() {
  int disabled = 0;  // by the system's own setting, of which the error of the ring tells
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
  if (const std::string why = disabled == 0 ? denial(CallUse::rings) : ""; !why.empty()) {
    return fmt::format("io_uring is unavailable: {}, or use the blocking engine", why);
  }
  try {
    Ring(2);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<std::string> polling_unavailable_reason(int directory) {
  if (auto why = uring_unavailable_reason()) return why;
  const Descriptor file(openat(directory, ".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
  const Buffer buffer(1);
  const auto wanted = static_cast<std::int64_t>(buffer.size());
  if (file.get() < 0 || pwrite(file.get(), buffer.data(), buffer.size(), 0) != wanted) {
    return no_polling(fmt::format("direct I/O failed: {}", strerror(errno)));
  }
  try {
    const std::int64_t got = read_polled(file.get(), buffer);
    if (got < 0) return no_polling(strerror(static_cast<int>(-got)));
    if (got != wanted) return no_polling("short read");
  } catch (const Error& error) {
    return no_polling(error.what());
  }
  // Some kernels accept such requests but complete them by interrupts.
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return std::nullopt;
  const std::string device =
      fmt::format("/sys/dev/block/{}:{}", major(info.st_dev), minor(info.st_dev));
  for (const char* const queue : {"/queue/io_poll", "/../queue/io_poll"}) {
    if (read_sysfs(device + queue) == "0") return no_polling("the device has no polling queues");
  }
  return std::nullopt;
}

}  // namespace filereel
