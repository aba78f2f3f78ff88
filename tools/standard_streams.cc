#include "tools/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"

namespace filereel {

void reserve_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    const int access = number == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    Descriptor null(::open("/dev/null", access | O_CLOEXEC));  // takes the lowest number
    if (!null) throw_failed(fmt::format("cannot open /dev/null: {}", error_text(errno)));
    static_cast<void>(null.release());  // open until the process ends
  }
}

}  // namespace filereel
