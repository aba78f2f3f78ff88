#include "filesets/system/error_text.h"

#include <errno.h>
#include <string.h>

namespace filereel {

std::string error_text(int error) {
  std::string text = strerror(error);
  if (error == EDQUOT) text += "; raise the quota, or choose another volume";
  return text;
}

}  // namespace filereel
