// Analyses the content of real files: allocated ranges, duplicates and compressibility.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "filesets/file_set.h"

namespace filereel {

struct SurveyedContent {
  Content content;  // key 0 for a file without data
  std::vector<Hole> holes;
  bool duplicate = false;  // an earlier file had the same bytes and holes
};

// Thrown if a file cannot be read: errno, or ESTALE if the file was truncated in the meantime.
struct SurveyFailure {
  int error;
};

// Surveys files one by one and stores the content of each by its hash (32 to 64 bytes per distinct
// content). Owns about 1 MB of buffers.
class ContentSurvey {
 public:
  // `on_read` is called after every read with the number of bytes; it returns false to end the
  // survey.
  explicit ContentSurvey(std::function<bool(std::size_t)> on_read);
  ~ContentSurvey();
  ContentSurvey(const ContentSurvey&) = delete;
  ContentSurvey& operator=(const ContentSurvey&) = delete;

  // Surveys the regular file `fd`, open for reading, of `size` > 0 bytes; moves its file offset.
  // Returns nothing if `on_read` ended the survey. Throws SurveyFailure.
  std::optional<SurveyedContent> survey(int fd, std::uint64_t size);

 private:
  class Table;
  class Reader;
  std::unique_ptr<Table> known_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace filereel
