#include "tools/command_line.h"

int main(int argc, char** argv) {
  return filereel::run_command_line(argc, argv);
}
