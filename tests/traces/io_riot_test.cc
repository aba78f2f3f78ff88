#include "traces/import/io_riot.h"

#include <string>

#include <doctest/doctest.h>

#include "imported.h"

namespace filereel {
namespace {

// A line of process and thread 7; `|` in `fields` stands for the separator.
std::string line(std::string fields, const std::string& thread = "7:7", int ms = 1000) {
  fields += '|';
  std::string out = "t=" + std::to_string(ms) + ";:,i=" + thread + ";:,";
  for (const char c : fields) c == '|' ? out += ";:," : out += c;
  return out + "\n";
}

TEST_CASE("a capture becomes operations with explicit offsets") {
  Imported capture(io_riot_importer(),
                   "#|capture_version=2|\n" + line("o=mkdir|p=/tmp/d|m=493|s=0") +
                       line("o=open|d=5|p=/tmp/d/f|f=66|m=420", "7:7", 1002) +
                       line("o=write|d=5|b=100") + line("o=lseek|d=5|O=10|W=0|b=10") +
                       line("o=read|d=5|b=20") + line("o=read|d=5|b=30") + line("o=fsync|d=5|s=0") +
                       line("o=fstat|d=5|s=0") + line("o=close|d=5|s=0", "7:7", 1005) +
                       line("o=rename|p=/tmp/d/f|P=/tmp/d/g|s=0") +
                       line("o=unlinkat|d=-100|p=/tmp/d/g|f=0|s=0") +
                       line("o=unlinkat|d=-100|p=/tmp/d|f=512|s=0") + line("o=stat|p=/tmp/d|s=-2"));
  CHECK(capture.error.empty());
  CHECK(capture.whole);
  CHECK(capture.builder.info().lost.empty());
  const std::string dump = capture.dump(true);
  CAPTURE(dump);
  for (const char* const expected :
       {"0.000 0.000 0 mkdir path=tmp/d mode=0755 = 0\n",
        "2000.000 0.000 0 open path=tmp/d/f file=0 flags=0x42 mode=0644 = 0\n",
        " write file=0 offset=0 length=100 = 100\n", " read file=0 offset=10 length=20 = 20\n",
        " read file=0 offset=30 length=30 = 30\n", " fsync file=0 = 0\n", " stat file=0 ",
        "5000.000 0.000 0 close file=0 = 0\n", " rename path=tmp/d/g old_path=tmp/d/f ",
        " unlink path=tmp/d/g = 0\n", " rmdir path=tmp/d = 0\n", "stat path=tmp/d "}) {
    CAPTURE(expected);
    CHECK(dump.find(expected) != std::string::npos);
  }
  CHECK(dump.find("= ENOENT\n") != std::string::npos);
}

TEST_CASE("threads of a process share its descriptors, processes do not") {
  Imported capture(io_riot_importer(), line("o=open|d=5|p=/a|f=0|m=0", "7:7") +
                                           line("o=read|d=5|b=1", "7:8") +
                                           line("o=read|d=5|b=1", "9:9"));
  const TraceInfo& info = capture.builder.info();
  REQUIRE(info.threads.size() == 2);
  CHECK(info.threads[1].process == 7);
  CHECK(info.threads[1].thread == 8);
  CHECK(info.threads[1].parent == 0);
  CHECK(capture.dump().find("1 read file=0 offset=0 length=1 = 1\n") != std::string::npos);
  CHECK(info.lost.at("calls on descriptors with no recorded open") == 1);
}

TEST_CASE("descriptors are followed through fcntl and the end of a process") {
  Imported capture(io_riot_importer(), line("o=open|d=5|p=/a|f=0|m=0") +
                                           line("o=fcntl|d=5|F=0|G=10|s=10") +
                                           line("o=close|d=5|s=0") + line("o=read|d=10|b=1") +
                                           line("o=fcntl|d=10|F=3|G=0|s=0") + line("o=exit_group") +
                                           line("o=read|d=10|b=1"));
  CHECK(capture.error.empty());
  const std::string dump = capture.dump();
  CHECK(dump.find("read file=0 offset=0 length=1 = 1\n") != std::string::npos);
  CHECK(dump.find("close file=0") > dump.find("read file=0"));
  CHECK(capture.builder.info().lost.at("calls on descriptors with no recorded open") == 1);
}

TEST_CASE("corrupt lines are omitted and counted") {
  Imported capture(io_riot_importer(),
                   line("o=mkdir|p=/a|m=493|s=0") +
                       "t=1000;:,i=7:7;:,o=mkdir;:,p=/tm\n"  // truncated
                       "t=1000;:,i=7:7;:,o=mkdir;:,p=/b;:,m=x;:,s=0;:,\n"
                       "t=1000;:,i=7;:,o=mkdir;:,p=/b;:,m=1;:,s=0;:,\n"
                       "t=1000;:,i=7:7;:,o=mkdir;:,o=rmdir;:,p=/b;:,m=1;:,s=0;:,\n"
                       "t=1000;:,i=7:7;:,o=nonsense;:,\n"
                       "i=7:7;:,o=rmdir;:,p=/b;:,s=0;:,\n" +
                       line("o=readahead|d=3|b=0|O=0|c=5"));
  CHECK(capture.error.empty());
  CHECK(capture.dump() == "0 mkdir path=a mode=0755 = 0\n");
  CHECK(capture.builder.info().lost.at("corrupt lines") == 6);
}

TEST_CASE("a file without a complete line is rejected") {
  CHECK(Imported(io_riot_importer(), "1|2|3\n").error ==
        "input:1: no intact line of an I/O Riot capture; pass a capture file (ioriot -c), not a "
        "replay "
        "file");
}

TEST_CASE("a file that starts with many corrupt lines is rejected early") {
  std::string garbage;
  for (int i = 0; i < 100; ++i) garbage += "garbage\n";
  CHECK(Imported(io_riot_importer(), garbage).error.starts_with("input:20: no intact line"));
}

TEST_CASE("captures are recognised by their header or their first line") {
  CHECK(io_riot_importer().recognises("#|capture_version=2|\n"));
  CHECK(io_riot_importer().recognises(line("o=close|d=5|s=0")));
  CHECK(!io_riot_importer().recognises("fio version 2 iolog\n"));
  CHECK(!io_riot_importer().recognises("# text\n"));
}

}  // namespace
}  // namespace filereel
