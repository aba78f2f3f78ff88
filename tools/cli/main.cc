#include "filesets/system/limits.h"
#include "tools/cli/command_line.h"

int main(int argc, char** argv) {
  return filereel::on_large_stack([&] { return filereel::run_command_line(argc, argv); });
}
