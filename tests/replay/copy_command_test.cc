#include "replay/jobs/copy_command.h"

#include <array>
#include <stop_token>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

CopyProgram copying(const std::string& command) {
  return {command, "original", "copy", Role::near, 2};
}

TEST_CASE("a copy command names both directories") {
  CHECK_NOTHROW(check_copy_command("cp -a {from}/. {to}"));
  for (const char* text : {"", "cp", "cp {from}", "cp {to}", "cp {From} {to}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(check_copy_command(text), Error);
  }
}

TEST_CASE("the directories are quoted, and other braces are the shell's") {
  const CopyProgram program = copying("x {threads} {from}/* {to} {a,b} {}{");
  CHECK(shell_text(program, "/a b/it's", "/{from}") == "x 2 '/a b/it'\\''s'/* '/{from}' {a,b} {}{");
}

TEST_CASE("the programs of a command are found in the shell and in PATH") {
  for (const char* text :
       {"cp {from} {to}", "cd {from} && cp . {to}", "A=1 B='x y' cp {from} {to} 2>&1",
        "(cp a; cp b)", "for f in {from}/*; do cp $f {to}; done",
        "cp 'a|nosuch' \"b;nosuch\" c\\|nosuch", "$PROGRAM {from} {to}", "cp a &> b",
        "if true; then cp a b; fi"}) {
    CAPTURE(text);
    CHECK(missing_program(text) == "");
  }
  for (const char* text : {"nosuch-1 {from} {to}", "cp a | nosuch-1 {to}", "A=1 nosuch-1 x",
                           "cd {from} && nosuch-1", "cp a & nosuch-1", "(nosuch-1)"}) {
    CAPTURE(text);
    CHECK(missing_program(text) == "nosuch-1");
  }
}

struct CopyPlace {
  TempDir temp;
  Descriptor root{::open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

  ReplayOutcome run(const std::string& command, const ReplayOptions& options = {}) const {
    std::array<int, kRoles> roots;
    roots.fill(-1);
    roots[0] = root.get();
    return run_copy_program(copying(command), roots, options, "copy-near");
  }
  bool has(const std::string& name) const {
    return faccessat(root.get(), name.c_str(), F_OK, 0) == 0;
  }
};

TEST_CASE("a program runs in its directories, with times and the processors permitted") {
  const CopyPlace place;
  bool measured = false;
  const ReplayOutcome outcome =
      place.run("test -d {to} && test $(nproc) -le {threads} && echo {from} > {to}/x",
                {.on_measured_start = [&] { measured = true; }});
  CHECK(outcome.complete);
  CHECK(measured);
  CHECK(outcome.elapsed_s > 0);
  CHECK(outcome.end_ns > 0);
  CHECK(place.has("copy/x"));
}

TEST_CASE("a failure is reported with the first line of the program's complaints") {
  const auto check = [](const char* command, const char* text) {
    CAPTURE(command);
    const CopyPlace place;
    CHECK_THROWS_WITH_AS(place.run(command), doctest::Contains(text), Error);
  };
  check("exit 3", "copy-near failed: exit status 3");
  check("echo out; echo first >&2; echo second >&2; exit 1", "exit status 1: first");
  check("printf 'a\\033b' >&2; exit 1", "a\\x1bb");
  check("nosuch-1", "exit status 127");
  check("kill -9 $$", "killed by signal 9");
  check("head -c 9999999 /dev/zero | tr '\\0' y >&2; exit 4", "exit status 4");
}

TEST_CASE("what a program leaves in the background ends with it") {
  ShellProgram program("sleep 1000 & echo $! >&2", 1);
  const auto end = program.wait({});
  REQUIRE(end);
  CHECK(end->status == 0);
  CHECK(kill(std::stoi(end->complaint), 0) != 0);
}

TEST_CASE("a requested stop ends the program and its children") {
  const CopyPlace place;
  std::stop_source stop;
  stop.request_stop();
  const ReplayOutcome outcome =
      place.run("sleep 1000 | (trap '' TERM; sleep 1000)", {.stop = stop.get_token()});
  CHECK(!outcome.complete);
  CHECK(outcome.elapsed_s < 100);
}

}  // namespace
}  // namespace filereel
