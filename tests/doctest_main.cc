#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/skipped.h"

int main(int argc, char** argv) {
  forget_skipped();
  return doctest::Context(argc, argv).run();
}
