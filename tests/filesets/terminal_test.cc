#include "filesets/system/terminal.h"

#include <doctest/doctest.h>
#include <stdlib.h>

namespace filereel {
namespace {

// Sets a variable of the environment for the life of the object.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_CASE("the processes of mpirun know their number and rank, and have no terminal") {
  CHECK(mpi_process().count == 1);
  const Variable count("OMPI_COMM_WORLD_SIZE", "4"), rank("OMPI_COMM_WORLD_RANK", "2");
  CHECK(mpi_process().count == 4);
  CHECK(mpi_process().rank == 2);
  CHECK_FALSE(is_terminal(1));
}

TEST_CASE("other launchers are known, and a text that is no number is one process") {
  const Variable count("PMI_SIZE", "3"), rank("PMI_RANK", "1");
  CHECK(mpi_process().count == 3);
  CHECK(mpi_process().rank == 1);
  const Variable strange("OMPI_COMM_WORLD_SIZE", "many");
  CHECK(mpi_process().count == 1);
}

}  // namespace
}  // namespace filereel
