// Comparisons and rankings for other programs: JSON and JUnit XML.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
#include "replay/json_fwd.h"

namespace filereel {

// --- The JSON form of comparisons (docs/compare.md), which other programs rely on.

inline constexpr int kComparisonSchemaVersion = 1;

// The members that identify the measurement.
Json key_to_json(const MeasurementKey& key);

Json keys_to_json(std::span<const MeasurementKey> keys);

// Shared by comparisons and rankings.
Json side_to_json(const ComparedSide& side);
Json warnings_to_json(std::span<const Warning> warnings);
void put_interval(Json& json, const char* key, const std::optional<Interval>& interval);
std::string_view figure_code(Figure figure);  // "durable" …

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced. `indexes` are of the two
// sides.
std::string comparison_to_json(const ResultComparison& comparison,
                               std::span<const Index> indexes = {});

// --- The JSON form of rankings and indices (docs/compare.md), which other programs rely on.

// A list; `names` are the names of the groups.
Json indexes_to_json(std::span<const Index> indexes, std::span<const std::string> names);

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced.
std::string ranking_to_json(const Ranking& ranking, std::span<const Index> indexes);

// --- Comparisons for CI systems, in JUnit's XML format.

// One test suite with a test case per measurement. Slower ones are failures; undecided ones and
// those missing in the new result are skipped. `time` is the new side's median. Follows the schema
// of Jenkins' xUnit plugin (tests/integration/junit.xsd). Bytes that XML cannot hold are written as
// \xHH.
std::string comparison_to_junit(const ResultComparison& comparison);

}  // namespace filereel
