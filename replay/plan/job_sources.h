// From items of the catalogue to jobs: the table of the kinds. CONTRIBUTING.md says what a new kind
// needs.
#pragma once

#include "replay/jobs/job_makers.h"
#include "replay/plan/catalogue.h"

namespace filereel {

// How a catalogue item becomes a job.
struct JobSource {
  JobKind kind;
  bool recorded;  // keeps its recorded length, regardless of the scale
  bool (*fits)(const CatalogueItem& item);
  Jobs (*make)(const CatalogueItem& item, const JobOptions& options);
};

// For a workload, a file set or a reel. A plan contains jobs and has no source.
const JobSource& job_source_of(const CatalogueItem& item);

}  // namespace filereel
