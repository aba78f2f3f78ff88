#include "traces/calls/open_files.h"

namespace filereel {

DescriptionRef OpenFiles::find(std::uint64_t number) {
  const auto found = files_.find(number);
  if (found == files_.end()) return nullptr;
  DescriptionRef file = found->second.lock();
  if (!file) files_.erase(found);
  return file;
}

void OpenFiles::bind(std::uint64_t number, const DescriptionRef& file) {
  if (number == 0) return;
  const DescriptionRef earlier = find(number);
  if (earlier == file) return;
  if (earlier) earlier->number = 0;
  if (!file) {
    files_.erase(number);
    return;
  }
  if (file->number != 0) files_.erase(file->number);
  file->number = number;
  files_[number] = file;
}

void OpenFiles::forget(Description& file) {
  if (file.number != 0) files_.erase(file.number);
  file.number = 0;
}

}  // namespace filereel
