#include "filesets/system/failure_text.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <zstd_errors.h>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"

namespace filereel {
namespace {

template <class Work>
std::string text_of_failure(const Work& work) {
  try {
    work();
  } catch (const std::exception& failure) {
    return failure_text(failure);
  }
  return "";
}

TEST_CASE("an error keeps its own text") {
  CHECK(text_of_failure([] { throw_failed("a: no such file; name another"); }) ==
        "a: no such file; name another");
}

TEST_CASE("failures of Boost name the path and the reason, not the function") {
  CHECK(text_of_failure([] { boost::filesystem::file_size("/none\n/x"); }) ==
        "cannot access '/none\\x0a/x': No such file or directory; check that it exists and is "
        "yours to use");
  CHECK(text_of_failure([] {
          throw boost::filesystem::filesystem_error(
              "boost::filesystem::current_path",
              boost::system::error_code(ENOENT, boost::system::system_category()));
        }).starts_with("cannot access the working directory: No such file or directory; "));
}

TEST_CASE("failures of the system and of memory say which limit to raise") {
  CHECK(text_of_failure([] { throw std::bad_alloc(); }).starts_with("out of memory; the "));
  CHECK(text_of_failure([] {
          throw std::system_error(EAGAIN, std::generic_category(), "std::thread");
        }).starts_with("the system refused: Resource temporarily unavailable; the number of "));
}

TEST_CASE("no other exception shows its text") {
  for (const std::string& text : {text_of_failure([] { (void)std::vector<int>().at(1); }),
                                  text_of_failure([] { (void)std::stoi("x"); }),
                                  text_of_failure([] { throw std::runtime_error("[json."); })}) {
    CHECK(text.starts_with("filereel itself failed, which is a bug; "));
  }
}

TEST_CASE("damage of compressed data is described") {
  const auto of = [](ZSTD_ErrorCode code) {
    return zstd_failure(static_cast<std::size_t>(0) - static_cast<std::size_t>(code));
  };
  CHECK(of(ZSTD_error_prefix_unknown) == "these bytes begin no zstd data");
  CHECK(of(ZSTD_error_checksum_wrong) == "the checksum is wrong");
  CHECK(of(ZSTD_error_corruption_detected) == "the data is damaged");
  CHECK(of(ZSTD_error_srcSize_wrong) == "the data is damaged");
  CHECK_THROWS_AS(of(ZSTD_error_memory_allocation), std::bad_alloc);
}

TEST_CASE("faults of YAML are described, also unknown ones") {
  CHECK(why_invalid_yaml("end of sequence flow not found") ==
        "a list that starts with '[' is not closed with ']'");
  CHECK(why_invalid_yaml("unknown escape character: q").starts_with("unknown escape after '\\'"));
  CHECK(why_invalid_yaml("") == "check indentation, brackets and quotes");
}

}  // namespace
}  // namespace filereel
