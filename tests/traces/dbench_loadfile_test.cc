#include <string>

#include <doctest/doctest.h>

#include "imported.h"
#include "traces/import/importers.h"

namespace filereel {
namespace {

std::string error_of(const std::string& text) {
  return Imported(dbench_importer(), text).error;
}

// The calls with which dbench searches `directory` for a missing name without finding it.
std::string search(const std::string& name, const std::string& directory, int file) {
  const std::string slot = std::to_string(file);
  return "0 stat path=" + name + " mode=0000 length=0 = ENOENT\n" + "0 open path=" + directory +
         " file=" + slot + " flags=0x90800 mode=0000 = 0\n" + "0 stat file=" + slot +
         " mode=0000 length=0 = 0\n" + "0 getdents file=" + slot + " offset=0 length=32768 = 0\n" +
         "0 getdents file=" + slot + " offset=1 length=32768 = 0\n" + "0 close file=" + slot +
         " = 0\n";
}

TEST_CASE("each line becomes the system calls of dbench") {
  const Imported load(dbench_importer(),
                      "# a comment\n"
                      "Deltree \"\\clients\\client1\" NT_STATUS_OK\n"
                      "Mkdir \"\\clients\" NT_STATUS_OK\n"
                      "NTCreateX \"\\clients\\A B.TXT\" 0x40 0x2 9938 NT_STATUS_OK\n"
                      "WriteX 9938 65534 1 1 NT_STATUS_OK\n"
                      "ReadX 9938 65530 100 100 NT_STATUS_OK\n"
                      "Flush 9938 NT_STATUS_OK\n"
                      "LockX 9938 2147483538 1 NT_STATUS_OK\n"
                      "UnlockX 9938 2147483538 1 NT_STATUS_OK\n"
                      "QUERY_FILE_INFORMATION 9938 258 NT_STATUS_OK\n"
                      "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n"
                      "Close 9938 NT_STATUS_OK\n"
                      "QUERY_PATH_INFORMATION \"\\clients\\A B.TXT\" 1004 NT_STATUS_OK\n"
                      "Unlink \"\\clients\\A B.TXT\" 0x6 NT_STATUS_OK\n");
  CHECK(load.error.empty());
  CHECK(load.whole);
  CHECK(load.dump() == "0 open path=clients/client1 flags=0x90800 mode=0000 = ENOENT\n" +
                           search("clients", ".", 0) + "0 mkdir path=clients mode=0777 = 0\n" +
                           search("clients/A\\x20B.TXT", "clients", 0) +
                           "0 open path=clients/A\\x20B.TXT file=0 flags=0x42 mode=0600 = 0\n"
                           "0 stat file=0 mode=0000 length=0 = 0\n"
                           "0 write file=0 offset=65534 length=1 = 1\n"
                           "0 read file=0 offset=65530 length=100 hole = 5\n"
                           "0 fsync file=0 = 0\n"
                           "0 lock file=0 flags=0x1a offset=2147483538 length=1 = 0\n"
                           "0 lock file=0 flags=0x1c offset=2147483538 length=1 = 0\n"
                           "0 stat file=0 mode=0000 length=0 = 0\n"
                           "0 statfs path=. = 0\n"
                           "0 close file=0 = 0\n"
                           "0 stat path=clients/A\\x20B.TXT mode=0000 length=0 = 0\n"
                           "0 stat path=clients/A\\x20B.TXT mode=0000 length=0 = 0\n"
                           "0 unlink path=clients/A\\x20B.TXT = 0\n");
  CHECK(load.initial().empty());
}

TEST_CASE("a name in another case is found in the directory") {
  const Imported load(dbench_importer(),
                      "NTCreateX \"\\NAME\" 0x40 0x2 1 NT_STATUS_OK\n"
                      "QUERY_PATH_INFORMATION \"\\name\" 1004 NT_STATUS_OK\n");
  const std::string dump = load.dump();
  CHECK(dump.substr(dump.find("0 stat path=name")) ==
        "0 stat path=name mode=0000 length=0 = ENOENT\n"
        "0 open path=. file=1 flags=0x90800 mode=0000 = 0\n"
        "0 stat file=1 mode=0000 length=0 = 0\n"
        "0 getdents file=1 offset=0 length=32768 = 0\n"  // and no second call
        "0 close file=1 = 0\n");
}

TEST_CASE("a new directory is created and opened, an existing one is opened twice") {
  const Imported load(dbench_importer(),
                      "NTCreateX \"\\d\" 0x1 0x2 1 NT_STATUS_OK\n"
                      "Close 1 NT_STATUS_OK\n"
                      "NTCreateX \"\\d\" 0x0 0x1 2 NT_STATUS_OK\n");
  CHECK(load.dump() == search("d", ".", 0) +
                           "0 mkdir path=d mode=0700 = 0\n"
                           "0 open path=d file=0 flags=0x10000 mode=0600 = 0\n"
                           "0 stat file=0 mode=0000 length=0 = 0\n"
                           "0 close file=0 = 0\n"
                           "0 stat path=d mode=0000 length=0 = 0\n"
                           "0 open path=d flags=0x2 mode=0600 = EISDIR\n"
                           "0 open path=d file=0 flags=0x10000 mode=0600 = 0\n"
                           "0 stat file=0 mode=0000 length=0 = 0\n");
}

TEST_CASE("renamed files keep their size, and their time is set under the old name") {
  const Imported load(dbench_importer(),
                      "NTCreateX \"\\a\" 0x40 0x2 1 NT_STATUS_OK\n"
                      "WriteX 1 0 100 100 NT_STATUS_OK\n"
                      "Rename \"\\a\" \"\\b\" NT_STATUS_OK\n"
                      "SET_FILE_INFORMATION 1 1004 NT_STATUS_OK\n"
                      "Close 1 NT_STATUS_OK\n"
                      "NTCreateX \"\\b\" 0x40 0x1 2 NT_STATUS_OK\n"
                      "ReadX 2 0 4096 100 NT_STATUS_OK\n");
  CHECK(load.error.empty());
  const std::string dump = load.dump();
  CHECK(dump.find("rename path=b old_path=a flags=0x0 = 0\n") != std::string::npos);
  CHECK(dump.find("utimens path=a offset=1000000000000000000 second=1000000000000000000 = "
                  "ENOENT\n") != std::string::npos);
  CHECK(dump.find("read file=0 offset=0 length=4096 = 100\n") != std::string::npos);
}

TEST_CASE("a tree is emptied file by file and keeps its directories") {
  const Imported load(dbench_importer(),
                      "Mkdir \"\\d\" NT_STATUS_OK\n"
                      "Mkdir \"\\d\\e\" NT_STATUS_OK\n"
                      "NTCreateX \"\\d\\e\\f\" 0x40 0x2 1 NT_STATUS_OK\n"
                      "Close 1 NT_STATUS_OK\n"
                      "Deltree \"\\d\" NT_STATUS_OK\n"
                      "QUERY_PATH_INFORMATION \"\\d\\e\" 1 NT_STATUS_OK\n"
                      "QUERY_PATH_INFORMATION \"\\d\\e\\f\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n");
  const std::string dump = load.dump();
  CHECK(dump.substr(dump.find("0 open path=d file=0 flags=0x90800 mode=0000 = 0\n"
                              "0 stat file=0 mode=0000 length=0 = 0\n"
                              "0 getdents file=0 offset=0 length=32768 = 0\n"
                              "0 stat path=d/e")) ==
        "0 open path=d file=0 flags=0x90800 mode=0000 = 0\n"
        "0 stat file=0 mode=0000 length=0 = 0\n"
        "0 getdents file=0 offset=0 length=32768 = 0\n"
        "0 stat path=d/e mode=0000 length=0 = 0\n"
        "0 open path=d/e file=1 flags=0x90800 mode=0000 = 0\n"
        "0 stat file=1 mode=0000 length=0 = 0\n"
        "0 getdents file=1 offset=0 length=32768 = 0\n"
        "0 stat path=d/e/f mode=0000 length=0 = 0\n"
        "0 unlink path=d/e/f = 0\n"
        "0 getdents file=1 offset=1 length=32768 = 0\n"
        "0 close file=1 = 0\n"
        "0 getdents file=0 offset=1 length=32768 = 0\n"
        "0 close file=0 = 0\n"
        "0 stat path=d/e mode=0000 length=0 = 0\n" +
            search("d/e/f", "d/e", 0));
}

TEST_CASE("patterns list a directory, up to the requested number of names") {
  const Imported all(dbench_importer(), "FIND_FIRST \"\\*\" 260 1366 0 NT_STATUS_NO_SUCH_FILE\n");
  const Imported few(dbench_importer(), "FIND_FIRST \"\\*\" 260 2 0 NT_STATUS_NO_SUCH_FILE\n");
  const std::string listing =
      "0 open path=. file=0 flags=0x90800 mode=0000 = 0\n"
      "0 stat file=0 mode=0000 length=0 = 0\n"
      "0 getdents file=0 offset=0 length=32768 = 0\n";
  CHECK(all.dump() == search("*", ".", 0) + listing +
                          "0 getdents file=0 offset=1 length=32768 = 0\n0 close file=0 = 0\n");
  CHECK(few.dump() == search("*", ".", 0) + listing + "0 close file=0 = 0\n");
}

TEST_CASE("times and sleeps determine the start of operations") {
  const Imported load(dbench_importer(),
                      "0.000 QUERY_FS_INFORMATION 1 NT_STATUS_OK\n"
                      "1.5 QUERY_FS_INFORMATION 1 NT_STATUS_OK\n"
                      "Sleep 250 NT_STATUS_OK\n"
                      "QUERY_FS_INFORMATION 1 0x00000000\n");
  CHECK(load.dump(true) ==
        "0.000 0.000 0 statfs path=. = 0\n"
        "1500000.000 0.000 0 statfs path=. = 0\n"
        "1500250.000 0.000 0 statfs path=. = 0\n");
}

TEST_CASE("results that dbench would not get are counted") {
  Imported load(dbench_importer(),
                "Unlink \"\\a\" 0x6 NT_STATUS_OK\n"
                "NTCreateX \"\\b\" 0x40 0x1 5 NT_STATUS_OBJECT_NAME_NOT_FOUND\n");
  CHECK(load.dump().find("unlink path=a = ENOENT\n") != std::string::npos);
  CHECK(load.builder.info().approximated.at("results that differ from the load file") == 1);
}

// From a load file that comes with dbench 2.0: names without quotes, no status, a quote in a
// pattern, handle -1 for a file that is missing, FIND_FIRST without numbers.
constexpr const char* kOldLoad =
    "Deltree \\clients\\client1\n"
    "QUERY_PATH_INFORMATION \\clients\\client1\n"
    "NTCreateX \\clients 0x1 0x3 12114\n"
    "Close 12114\n"
    "NTCreateX \\clients\\client1 0x1 0x2 12115\n"
    "Close 12115\n"
    "NTCreateX \\clients\\client1\\mixfile 0x40 0x1 -1\n"
    "FIND_FIRST \\clients\\client1\\FILLER\"*\n"
    "NTCreateX \\clients\\client1\\filler.000 0x40 0x2 12120\r\n"
    "QUERY_FS_INFORMATION 1\n"
    "WriteX 12120 65534 1 1\n"
    "QUERY_FILE_INFORMATION 12120\n"
    "ReadX 12120 65530 100 5\n"
    "Flush 12120\n"
    "Close 12120\n"
    "Rename \\clients\\client1\\filler.000 \\clients\\client1\\@@@.TMP\n"
    "Unlink \\clients\\client1\\@@@.TMP\n"
    "Rmdir \\clients\\client1\n";

TEST_CASE("load files of dbench 2 become the same calls as later ones") {
  std::string later;
  for (std::string rest = kOldLoad; !rest.empty(); rest = rest.substr(rest.find('\n') + 1)) {
    std::string line = rest.substr(0, rest.find_first_of("\r\n"));
    if (line.starts_with("FIND_FIRST")) {
      line = "FIND_FIRST \"\\clients\\client1\\FILLER*\" 260 -1 0";
    }
    const bool missing = line.ends_with(" -1");
    if (missing) line.replace(line.size() - 2, 2, "7");
    later += line + (missing ? " NT_STATUS_OBJECT_NAME_NOT_FOUND\n" : " NT_STATUS_OK\n");
  }
  Imported old(dbench_importer(), kOldLoad);
  const Imported load(dbench_importer(), later);
  CHECK(old.error.empty());
  CHECK(load.error.empty());
  std::string dump = old.dump();
  const std::size_t quote = dump.find("FILLER\"*");
  REQUIRE(quote != std::string::npos);
  CHECK(dump.replace(quote, 8, "FILLER*") == load.dump());
  CHECK(old.builder.info().approximated.empty());
  CHECK(old.initial().empty());
}

TEST_CASE("files that a part of a load file needs existed before") {
  Imported old(dbench_importer(),
               "NTCreateX \\clients\\client1\\a.doc 0x40 0x2 12120\n"
               "WriteX 12120 0 4096 4096\n"
               "ReadX 12120 0 4096 4096\n"
               "Flush 12120\n"
               "Close 12120\n"
               "NTCreateX \\clients\\client2\\b.doc 0x40 0x1 12121\n"
               "ReadX 12121 100 4096 4096\n"
               "ReadX 12121 4196 4096 10\n"
               "Close 12121\n");
  CHECK(old.error.empty());
  CHECK(old.initial() ==
        "clients/\nclients/client1/\nclients/client2/\nclients/client2/b.doc 4206\n");
  CHECK(old.builder.info().approximated.empty());
  const std::string dump = old.dump();
  CHECK(dump.find("write file=0 offset=0 length=4096 = 4096\n") != std::string::npos);
  CHECK(dump.find("fsync file=0 = 0\n") != std::string::npos);
  CHECK(dump.find("read file=0 offset=4196 length=4096 = 10\n") != std::string::npos);
  // Not what the load file itself has removed.
  CHECK(error_of("Deltree \\d\nNTCreateX \\d\\f 0x40 0x2 7\nClose 7\n") ==
        "input:3: handle 7 is not open; its NTCreateX is missing or failed, or the load file is "
        "corrupt");
}

TEST_CASE("errors in a load file of dbench 2 are reported with their line") {
  const std::string open = "NTCreateX \\a 0x40 0x2 1\n";
  CHECK(
      error_of(open + "Bogus \\a\n") ==
      "input:2: unknown operation \"Bogus\"; only load files for dbench's file system backend are "
      "supported");
  CHECK(error_of(open + "ReadX 1 0\n") == "input:2: 2 fields after \"ReadX\"; expected 3");
  CHECK(error_of(open + "Rename \\a\n") == "input:2: 1 field after \"Rename\"; expected 2");
  CHECK(error_of(open + "Close\n") == "input:2: 0 fields after \"Close\"; expected 1");
  CHECK(error_of("NTCreateX \\a 0x40 0x2\n") ==
        "input:1: 3 fields after \"NTCreateX\"; expected 4");
  CHECK(error_of(open + "WriteX 1 0 zero 1\n") ==
        "input:2: invalid number \"zero\"; expected 0 to 2147479552");
  CHECK(error_of(open + "Close 2\n") ==
        "input:2: handle 2 is not open; its NTCreateX is missing or failed, or the load file is "
        "corrupt");
  CHECK(error_of(open + open) == "input:2: handle 1 is already open; its Close is missing");
  CHECK(
      error_of(open + "Close 1 NT_STATUS_OK\n") ==
      "input:2: unexpected status \"NT_STATUS_OK\"; the first operation has none, as in load files "
      "of dbench 2; use one format throughout");
}

TEST_CASE("names cannot leave the root") {
  const Imported load(dbench_importer(), "Mkdir \"\\..\\..\\etc\\..\\x\" NT_STATUS_OK\n");
  CHECK(load.dump().find("mkdir path=x ") != std::string::npos);
}

TEST_CASE("errors in a load file are reported with their line") {
  CHECK(error_of("\n# nothing\n") ==
        "input:2: no operations; pass a dbench load file such as client.txt");
  CHECK(error_of("SMBopen 1 2\n") ==
        "input:1: unsupported load file of dbench 1; pass one of dbench 2 or later");
  CHECK(error_of("LOOKUP3 \"/x\" 0x0\n") ==
        "input:1: unknown operation \"LOOKUP3\"; only load files for dbench's file system backend "
        "are supported");
  CHECK(error_of("QUERY_FS_INFORMATION 1 NT_STATUS_OK\nClose 1\n") ==
        "input:2: invalid status \"1\"; expected NT_STATUS_OK, another NT_STATUS_ name, or 0x and "
        "a number");
  CHECK(error_of("\nClose 1 NT_STATUS_OK\n") ==
        "input:2: handle 1 is not open; its NTCreateX is missing or failed, or the load file is "
        "corrupt");
  CHECK(error_of("NTCreateX \"\\a\" 0 2 1 NT_STATUS_OK\nNTCreateX \"\\a\" 0 2 1 NT_STATUS_OK\n") ==
        "input:2: handle 1 is already open; its Close is missing");
  const std::string open = "NTCreateX \"\\a\" 0 2 1 NT_STATUS_OK\n";
  CHECK(error_of(open + "ReadX 1 0 x 1 NT_STATUS_OK\n") ==
        "input:2: invalid number \"x\"; expected 0 to 2147479552");
  CHECK(error_of(open + "ReadX 1 -1 1 1 NT_STATUS_OK\n") ==
        "input:2: invalid number \"-1\"; expected 0 to 9223372036854775807");
  CHECK(error_of(open + "WriteX 1 9223372036854775807 1 1 NT_STATUS_OK\n") ==
        "input:2: offset 9223372036854775807 is out of range; files end at 2^63 - 1");
  CHECK(error_of(open + "ReadX 1 NT_STATUS_OK\n") ==
        "input:2: 1 field after \"ReadX\"; expected 3");
  CHECK(
      error_of("1e99 Close 1 NT_STATUS_OK\n") ==
      "input:1: invalid time \"1e99\"; expected seconds or an operation at the start of the line");
}

TEST_CASE("load files are recognised by their first operation") {
  CHECK(dbench_importer().recognises("# x\nDeltree \"\\clients\" NT_STATUS_OK\nrubbish"));
  CHECK(dbench_importer().recognises("0.5 Close 1 0x0\n"));
  CHECK(!dbench_importer().recognises("fio version 2 iolog\n"));
  CHECK(dbench_importer().recognises("Deltree \\clients\\client1\nrubbish"));
  CHECK(dbench_importer().recognises("NTCreateX \\clients\\client1\\a.doc 0x40 0x2 12120\n"));
  CHECK(!dbench_importer().recognises("Unlink a\n"));
  CHECK(!dbench_importer().recognises("Close 1\n"));
  CHECK(!dbench_importer().recognises(""));
}

}  // namespace
}  // namespace filereel
