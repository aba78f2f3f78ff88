// A drive with known behaviour, for tests; see README.md.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "replay/measure/clock.h"
#include "tests/model_drive/drive.h"
#include "tests/model_drive/fuse_mount.h"

namespace filereel::model_drive {
namespace {

struct Arguments {
  std::string script, folder, log;
};

Script script_in(const std::string& path) {
  const std::optional<std::string> text = read_yaml_file(path, "a script");
  if (!text) throw_unusable(path, "there is no such file; name a script");
  return read_script(*text, path);
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void complain(const Error& error) {
  std::fputs(("model_drive: " + printable_line(error.what()) + "\n").c_str(), stderr);
}

// Tells what came of it on standard output; a script that cannot be used changes nothing.
void read_again(const std::string& path, Drive& drive, OperationLog& log) {
  try {
    const std::uint64_t since = drive.replace(script_in(path), path);
    log.note(fmt::format("{} in force: {}", since, path));
    say(fmt::format("in force {}", since));
  } catch (const Error& error) {
    complain(error);
    log.note(fmt::format("{} refused: {}", kernel_ns(), printable_line(error.what())));
    say("refused");
  }
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  return set;
}

void serve(const Arguments& arguments) {
  const sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // all threads inherit it
  // File systems on the drive write to free memory: memory for that must not wait for them.
  prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);

  Script script = script_in(arguments.script);
  OperationLog log(arguments.log);
  {
    Drive drive(std::move(script), log);
    const FuseMount mount(drive, arguments.folder);
    say("ready");
    for (int number = 0; number != SIGINT && number != SIGTERM;) {
      sigwait(&signals, &number);
      if (number == SIGHUP) read_again(arguments.script, drive, log);
      if (number == SIGUSR1) {
        log.flush();
        say("flushed " + drive.medium_state());
      }
    }
  }
  log.flush();
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Serve a file that is slow, and stalls, as a script says.", "model_drive"};
  app.add_option("SCRIPT", arguments.script, "what the drive does (YAML); read again on SIGHUP")
      ->required();
  app.add_option("MOUNTPOINT", arguments.folder,
                 "an empty folder, in which the file 'drive' appears")
      ->required();
  app.add_option("--log", arguments.log,
                 "a line per operation goes to this file, on SIGUSR1 and at the end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, std::string(error.what()) + "; see model_drive --help");
  }
  serve(arguments);
  return 0;
}

}  // namespace
}  // namespace filereel::model_drive

int main(int argc, char** argv) {
  try {
    return filereel::model_drive::run(argc, argv);
  } catch (const filereel::Error& error) {
    filereel::model_drive::complain(error);
    return static_cast<int>(error.kind());
  }
}
