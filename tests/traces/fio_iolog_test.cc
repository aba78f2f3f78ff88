#include <algorithm>
#include <cstddef>
#include <string>

#include <doctest/doctest.h>

#include "imported.h"
#include "traces/import/importers.h"

namespace filereel {
namespace {

std::string error_of(const std::string& text) {
  return Imported(fio_importer(), text).error;
}

TEST_CASE("an iolog of version 2 becomes operations, and its waits become times") {
  const Imported log(fio_importer(),
                     "fio version 2 iolog\n"
                     "data add\n"
                     "data open\n"
                     "data read 0 4096\n"
                     "data wait 200 0\n"
                     "data write 4096 512\n"
                     "data wait 300 0\n"
                     "data sync 0 0\n"
                     "data datasync 0 0\n"
                     "data trim 4096 1024\n"
                     "data close\n");
  CHECK(log.error.empty());
  CHECK(log.whole);
  CHECK(log.dump(true) ==
        "0.000 0.000 0 open path=data file=0 flags=0x2 mode=0000 = 0\n"
        "0.000 0.000 0 read file=0 offset=0 length=4096 = 4096\n"
        "200.000 0.000 0 write file=0 offset=4096 length=512 = 512\n"
        "500.000 0.000 0 fsync file=0 = 0\n"
        "500.000 0.000 0 fdatasync file=0 = 0\n"
        "500.000 0.000 0 fallocate file=0 flags=0x3 offset=4096 length=1024 = 0\n"
        "500.000 0.000 0 close file=0 = 0\n");
  CHECK(log.initial() == "data 4096\n");
}

TEST_CASE("an iolog of version 3 has a time on each line") {
  const Imported log(fio_importer(),
                     "fio version 3 iolog\n"
                     "19 /mnt/a.0 add\n"
                     "110 /mnt/a.0 open\n"
                     "50130 /mnt/a.0 read 32768 4096\n"
                     "50129 /mnt/a.0 read 0 1\n"
                     "50200 /mnt/a.0 close\n");
  CHECK(log.error.empty());
  CHECK(log.dump(true) ==
        "110.000 0.000 0 open path=mnt/a.0 file=0 flags=0x2 mode=0000 = 0\n"
        "50130.000 0.000 0 read file=0 offset=32768 length=4096 = 4096\n"
        "50130.000 0.000 0 read file=0 offset=0 length=1 = 1\n"  // never decreases
        "50200.000 0.000 0 close file=0 = 0\n");
  CHECK(log.initial() == "mnt/\nmnt/a.0 36864\n");
}

TEST_CASE("a log that fio appended to continues at its end") {
  const Imported log(fio_importer(),
                     "fio version 3 iolog\n"
                     "10 a open\n"
                     "20 a close\n"
                     "fio version 3 iolog\n"
                     "10 a open\n"
                     "15 a close\n");
  CHECK(log.dump(true) ==
        "10.000 0.000 0 open path=a file=0 flags=0x2 mode=0000 = 0\n"
        "20.000 0.000 0 close file=0 = 0\n"
        "30.000 0.000 0 open path=a file=0 flags=0x2 mode=0000 = 0\n"
        "35.000 0.000 0 close file=0 = 0\n");
}

TEST_CASE("files opened by several jobs stay open until the last one closes them") {
  const Imported log(fio_importer(),
                     "fio version 2 iolog\n"
                     "a open\na open\na read 0 1\na close\na read 0 1\na close\n");
  CHECK(log.error.empty());
  CHECK(log.dump() ==
        "0 open path=a file=0 flags=0x2 mode=0000 = 0\n"
        "0 open path=a file=1 flags=0x2 mode=0000 = 0\n"
        "0 read file=1 offset=0 length=1 = 1\n"
        "0 close file=1 = 0\n"
        "0 read file=0 offset=0 length=1 = 1\n"
        "0 close file=0 = 0\n");
}

TEST_CASE("names keep their blanks and cannot leave the root") {
  const Imported log(fio_importer(),
                     "fio version 3 iolog\n"
                     "1 ../../etc/x open\n"
                     "1 /my file open\n"
                     "2 my file read 0 10\n");
  CHECK(log.error.empty());
  CHECK(log.dump() ==
        "0 open path=etc/x file=0 flags=0x2 mode=0000 = 0\n"
        "0 open path=my\\x20file file=1 flags=0x2 mode=0000 = 0\n"
        "0 read file=1 offset=0 length=10 = 10\n");
  const Imported below(fio_importer(), "fio version 2 iolog\na open\n/b open\n",
                       {.working_directory = "/srv/data", .stop = {}});
  CHECK(below.dump() ==
        "0 open path=srv/data/a file=0 flags=0x2 mode=0000 = 0\n"
        "0 open path=b file=1 flags=0x2 mode=0000 = 0\n");
}

TEST_CASE("errors in an iolog are reported with their line") {
  CHECK(error_of("") ==
        "input:0: not a fio iolog; the first line must be \"fio version 2 iolog\" or "
        "\"fio version 3 iolog\"");
  CHECK(
      error_of("fio version 1 iolog\n") ==
      "input:1: unsupported iolog version 1; record with fio 1.17 or later to get version 2 or 3");
  CHECK(error_of("fio version 2 iolog\na fly\n") ==
        "input:2: unknown action \"fly\"; expected add, open, close, or read, write, sync, "
        "datasync, trim or wait with offset and length");
  CHECK(error_of("fio version 2 iolog\na add\na read 0 1\n") ==
        "input:3: \"a\" is not open; its \"open\" line is missing");
  CHECK(error_of("fio version 2 iolog\na open\na close\na close\n") ==
        "input:4: \"a\" is not open; its \"open\" line is missing");
  CHECK(error_of("fio version 2 iolog\na open\na read -1 1\n") ==
        "input:3: invalid number of bytes \"-1\"; expected 0 to 2^63 - 1");
  CHECK(error_of("fio version 2 iolog\na open\na read 0 99999999999999999999\n") ==
        "input:3: unknown action \"99999999999999999999\"; expected add, open, close, or read, "
        "write, sync, datasync, trim or wait with offset and length");
  CHECK(
      error_of("fio version 2 iolog\na open\na read 0 4294967296\n") ==
      "input:3: length of 4294967296 bytes is out of range; the limit for one call is 2147479552");
  CHECK(error_of("fio version 2 iolog\na open\na read 9223372036854775807 1\n") ==
        "input:3: offset 9223372036854775807 is out of range; files end at 2^63 - 1");
  CHECK(error_of("fio version 2 iolog\na open 5 6\n") ==
        "input:2: wrong number of fields for \"open\"; expected \"FILE ACTION\" or "
        "\"FILE ACTION OFFSET LENGTH\"");
  CHECK(error_of("fio version 2 iolog\na read\n").find("wrong number of fields") !=
        std::string::npos);
  CHECK(error_of("fio version 3 iolog\nx a open\n") ==
        "input:2: invalid time \"x\"; lines of version 3 start with microseconds");
  CHECK(error_of("fio version 3 iolog\n1 a wait 5 5\n") ==
        "input:2: unexpected \"wait\" in an iolog of version 3, which has times; remove the line");
  CHECK(error_of("fio version 2 iolog\n/.. open\n") ==
        "input:2: \"/..\" is not a file name; lines start with the name of a file");
  CHECK(error_of("fio version 2 iolog\na wait 18446744073709551615 0\n") ==
        "input:2: time after the year 2200; the log is corrupt");
}

// A job's log, which fio appends in blocks of 4096 bytes.
std::string job_log(const std::string& file, int reads) {
  std::string log = "fio version 3 iolog\n29 " + file + " add\n109 " + file + " open\n";
  for (int i = 0; i < reads; ++i) {
    log += std::to_string(110 + i) + " " + file + " read " + std::to_string(i * 4096) + " 4096\n";
  }
  return log + std::to_string(110 + reads) + " " + file + " close\n";
}

std::string torn_error(int line) {
  return "input:" + std::to_string(line) +
         ": several jobs wrote this log at once, which tears its lines; record each job alone, "
         "with "
         "numjobs=1 and a write_iolog of its own, import each log, and join the reels with "
         "\"filereel merge\"";
}

TEST_CASE("logs that several jobs wrote at once are refused") {
  const std::string first = job_log("./j.0.0", 1000), second = job_log("./j.1.0", 1000);
  std::string log;
  for (std::size_t at = 0; at < std::max(first.size(), second.size()); at += 4096) {
    if (at < first.size()) log += first.substr(at, 4096);
    if (at < second.size()) log += second.substr(at, 4096);
  }
  const std::string whole = first.substr(0, 4096);
  const auto lines = static_cast<int>(std::ranges::count(whole, '\n'));
  CHECK(error_of(log) == torn_error(lines + 1));  // the second header is in a line
  // A block that happens to end with a line.
  const std::string block = first.substr(0, whole.rfind('\n') + 1);
  CHECK(error_of(block + second) == torn_error(lines + 1));
  // Without the second header: the first line that makes no sense crosses the end of a block.
  CHECK(error_of(whole + second.substr(8192)) == torn_error(lines + 1));
  // Elsewhere, such a line has another reason.
  CHECK(error_of("fio version 3 iolog\n1 a open\n2 a re\n").find("unknown action") !=
        std::string::npos);
}

TEST_CASE("settings of the job that an iolog does not hold are named, with the calls concerned") {
  Imported log(fio_importer(),
               "fio version 2 iolog\na add\na open\na write 0 4096\na read 0 512\n"
               "a sync 0 0\na close\n");
  const auto& approximated = log.builder.info().approximated;
  REQUIRE(approximated.size() == 1);
  CHECK(approximated.begin()->first.find("direct, sync, iodepth and ioengine") !=
        std::string::npos);
  CHECK(approximated.begin()->second == 2);
  Imported none(fio_importer(), "fio version 2 iolog\na add\na open\na close\n");
  CHECK(none.builder.info().approximated.empty());
}

TEST_CASE("jobs that wrote a log one after another are counted") {
  Imported log(fio_importer(), job_log("a", 3) + job_log("b", 3) + job_log("c", 3));
  CHECK(log.error.empty());
  CHECK(log.builder.info().approximated.at(
            "further jobs or runs of fio in one log (replayed in sequence)") == 2);
}

TEST_CASE("iologs are recognised by their first line") {
  CHECK(fio_importer().recognises("fio version 3 iolog\n"));
  CHECK(!fio_importer().recognises("Close 1 NT_STATUS_OK\n"));
  CHECK(!fio_importer().recognises(""));
}

TEST_CASE("a last line that may be cut off is counted instead of guessed") {
  const std::string log = "fio version 3 iolog\n1 a add\n2 a open\n3 a write 0 4096\n";
  const auto lost = [](const std::string& text) {
    Imported imported(fio_importer(), text);
    CHECK(imported.error.empty());
    const auto& counts = imported.builder.info().lost;
    const auto found = counts.find("a last line that is cut off");
    return found == counts.end() ? 0 : found->second;
  };
  CHECK(lost(log) == 0);
  CHECK(lost(log + "4 a write 4096 40") == 1);
  CHECK(lost(log + "4 a wri") == 1);
  CHECK(lost(log + "4") == 1);
  CHECK(lost(log + "4 a close") == 0);
}

}  // namespace
}  // namespace filereel
