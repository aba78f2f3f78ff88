// Comparisons for CI systems, in JUnit's XML format.
#pragma once

#include <string>

#include "replay/compare/comparison.h"

namespace filereel {

// One test suite with a test case per measurement. Slower ones are failures; undecided ones and
// those missing in the new result are skipped. `time` is the new side's median. Follows the schema
// of Jenkins' xUnit plugin (tests/integration/junit.xsd). Bytes that XML cannot hold are written as
// \xHH.
std::string comparison_to_junit(const ResultComparison& comparison);

}  // namespace filereel
