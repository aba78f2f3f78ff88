#include "replay/plan/job_sources.h"

#include <algorithm>
#include <array>
#include <utility>

#include "filesets/specification/specification.h"
#include "traces/reel/catalogue_reels.h"

namespace filereel {
namespace {

using enum CatalogueItem::Kind;

Workload workload_of(const CatalogueItem& item) {
  return Workload::from_document(*item.document, item.shown_name());
}

Jobs only(std::unique_ptr<Job> job) {
  Jobs jobs;
  jobs.push_back(std::move(job));
  return jobs;
}

// The first match is used.
constexpr auto kSources = std::to_array<JobSource>({
    {JobKind::fc_test, false, [](const CatalogueItem& item) { return item.kind == file_set; },
     [](const CatalogueItem& item, const JobOptions& options) {
       if (item.document) {
         return only(make_fc_test_job(
             file_set_from_document(*item.document, item.name, options.scale), options));
       }
       JobOptions of_set = options;
       of_set.sets = {item.name};
       return make_fc_test_jobs(of_set);
     }},
    {JobKind::trace, true, [](const CatalogueItem& item) { return item.kind == reel; },
     [](const CatalogueItem& item, const JobOptions& options) {
       return only(make_trace_job(reel_name(item.name), open_reel(item), options));
     }},
    {JobKind::trace, true,
     [](const CatalogueItem& item) {
       return item.kind == workload && item.document->has_key("reel");
     },
     [](const CatalogueItem& item, const JobOptions& options) {
       return only(make_trace_job(workload_of(item), options));
     }},
    {JobKind::trace, false,
     [](const CatalogueItem& item) {
       return item.kind == workload && item.document->has_key("mysql");
     },
     [](const CatalogueItem& item, const JobOptions& options) {
       return only(make_trace_job(workload_of(item), options));
     }},
    {JobKind::workload, false, [](const CatalogueItem& item) { return item.kind == workload; },
     [](const CatalogueItem& item, const JobOptions& options) {
       return only(make_workload_job(workload_of(item), options));
     }},
});

}  // namespace

const JobSource& job_source_of(const CatalogueItem& item) {
  return *std::ranges::find_if(kSources,
                               [&](const JobSource& source) { return source.fits(item); });
}

}  // namespace filereel
