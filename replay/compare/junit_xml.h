// Comparisons for CI systems, in the XML that JUnit's reports made a custom.
#pragma once

#include <string>

#include "replay/compare/comparison.h"

namespace filereel {

// One test suite with a test case for each measurement: slower ones failed, those that cannot be
// told and those that the new side does not have are skipped. `time` is the new side's median.
// Follows the schema of Jenkins' xUnit plugin (tests/integration/junit.xsd). Bytes that XML
// cannot hold stand as \xHH.
std::string comparison_to_junit(const ResultComparison& comparison);

}  // namespace filereel
