// What the bytes of real files are like: where they lie, which files have the same ones, how well
// they compress.
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

// Thrown when a file cannot be read: errno, and ESTALE if the file became shorter meanwhile.
struct SurveyFailure {
  int error;
};

// Surveys one file after another and remembers the content of each by its hash (32 to 64 bytes per
// different content). Owns about 1 MB of buffers.
class ContentSurvey {
 public:
  // `on_read` is told of every read and its bytes; it returns false to end the survey.
  explicit ContentSurvey(std::function<bool(std::size_t)> on_read);
  ~ContentSurvey();
  ContentSurvey(const ContentSurvey&) = delete;
  ContentSurvey& operator=(const ContentSurvey&) = delete;

  // Of the regular file behind `fd`, open for reading, of `size` > 0 bytes; its position is moved.
  // Nothing if `on_read` ended it. Throws SurveyFailure.
  std::optional<SurveyedContent> survey(int fd, std::uint64_t size);

 private:
  class Table;
  class Reader;
  std::unique_ptr<Table> known_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace filereel
