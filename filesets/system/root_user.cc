#include "filesets/system/root_user.h"

#include <unistd.h>

namespace filereel {

bool is_root() noexcept {
  return geteuid() == 0;
}

}  // namespace filereel
