#include "tools/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"

namespace filereel {

void reserve_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    const int access = number == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    Descriptor null(::open("/dev/null", access | O_CLOEXEC));  // takes the lowest number
    if (!null) throw_failed(fmt::format("cannot open /dev/null: {}", strerror(errno)));
    static_cast<void>(null.release());  // open until the process ends
  }
}

int write_to(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process made it non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace filereel
