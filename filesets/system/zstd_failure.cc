#include "filesets/system/zstd_failure.h"

#include <new>

#include <zstd.h>
#include <zstd_errors.h>

namespace filereel {

std::string_view zstd_failure(std::size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_prefix_unknown:
      return "these bytes begin no zstd data";
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
      return "a newer zstd wrote the data";
    case ZSTD_error_frameParameter_windowTooLarge:
      return "the data needs too much memory";
    case ZSTD_error_checksum_wrong:
      return "the checksum is wrong";
    case ZSTD_error_dictionary_corrupted:
    case ZSTD_error_dictionary_wrong:
      return "the data needs a dictionary";
    default:
      return "the data is damaged";
  }
}

}  // namespace filereel
