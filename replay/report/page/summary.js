// What was measured, on what, and what a reader should know first.

function describePlan(result) {
  const jobs = result.plan.jobs;
  return jobs.map((job) => jobs.length > 1 ? `${job.name}: ${job.settings}` : job.settings).join('; ');
}

function runsText(result) {
  const counts = result.measurements.map((one) => one.samples.length);
  if (counts.length === 0) return 'none';
  const low = Math.min(...counts), high = Math.max(...counts);
  return `${low === high ? low : `${low} to ${high}`} of each measurement`;
}

const unique = (list) => [...new Set(list)];

function whatWasMeasured(result) {
  const measured = result.measurements;
  if (result.plan.jobs.length === 1 && result.plan.jobs[0].kind === 'fc-test') {
    return `FC-Test: ${counted(unique(measured.map((one) => one.category)).length, 'file set', 'file sets')}, ` +
        `${counted(unique(measured.map((one) => one.group)).length, 'operation', 'operations')}`;
  }
  const jobs = result.plan.jobs.length > 1 ? `${counted(result.plan.jobs.length, 'job', 'jobs')}, ` : '';
  return `${result.plan.name}: ${jobs}${counted(unique(measured.map((one) => one.subject)).length, 'measurement', 'measurements')}`;
}

function resultFacts(result) {
  return [
    ['Measured', whatWasMeasured(result)],
    ['Repetitions', runsText(result)],
    ['Drive', named(result.drives || 'not known')],
    ['File systems', named(unique(result.measurements.map((one) => one.file_system)).join(', '))],
    ['How', describePlan(result)],
    ['When', moment(result.started)],
  ];
}

// Side by side: a row for each result.
function resultsTable(results) {
  const rows = results.map(resultFacts);
  return table('What was measured', ['', ...rows[0].map(([name]) => name)],
      results.map((result, i) => [named(result.name), ...rows[i].map(([, value]) => value)]),
      {left: rows[0].map((_, i) => i + 1)});
}

function incompleteBanner(result) {
  return element('p', {class: 'banner incomplete', role: 'note'},
      element('strong', {}, 'Incomplete'),
      'The run ended before all was measured. ', named(result.name), ' shows what there is: ',
      counted(result.measurements.length, 'measurement', 'measurements'), '.');
}

// Operations down; file systems (of each result) across.
function scoreTable(data) {
  const columns = unique(data.scores.map((one) => `${one.result}\n${one.file_system}`));
  const operations = unique(data.scores.map((one) => one.operation));
  const heading = columns.map((column) => {
    const [result, fileSystem] = column.split('\n');
    return data.results.length > 1 ? `${data.results[result].name}, ${fileSystem}` : fileSystem;
  });
  const rows = operations.map((operation) => {
    const of = data.scores.filter((one) => one.operation === operation);
    const unit = of[0].of_files ? 'files/s' : 'MB/s';
    return [`${operation}, ${unit}`, ...columns.map((column) => {
      const score = of.find((one) => `${one.result}\n${one.file_system}` === column);
      if (!score) return '–';
      return {text: number(score.rate) + (score.best ? ' ▲' : ''), value: score.rate,
              class: score.best ? 'best' : null};
    })];
  });
  const sets = Math.max(...data.scores.map((one) => one.sets));
  return [table('Until durable; ▲ marks the fastest', ['operation', ...heading], rows),
          element('p', {class: 'hint'}, `Each figure is the geometric mean over ${
              counted(sets, 'file set', 'file sets')}, of the medians of all repetitions. Look at the whiskers below before you take a small difference for a real one.`)];
}

function showSummary(data) {
  const names = data.results.map((one) => one.name);
  document.getElementById('title').replaceChildren(
      named(names.length === 1 ? names[0] : `${names.length} results compared`));
  document.getElementById('subtitle').replaceChildren('File performance',
      names.length > 1 ? ' of ' : '', names.length > 1 ? named(names.join(', ')) : '');
  const part = section('Summary');
  for (const result of data.results) {
    if (!result.complete) part.append(incompleteBanner(result));
  }
  if (data.findings.length) {
    part.append(element('ul', {class: 'findings'},
        data.findings.map((text) => element('li', {}, named(text)))));
  }
  for (const result of data.results) {
    if (!result.note) continue;
    part.append(element('p', {}, names.length > 1 ? [named(result.name), ': '] : '', named(result.note)));
  }
  part.append(names.length > 1 ? resultsTable(data.results) : facts(resultFacts(data.results[0])));
  const warnings = data.results.reduce((sum, one) => sum + one.warnings.length, 0);
  if (warnings) {
    part.append(element('p', {class: 'hint'}, element('a', {href: '#warnings'},
        `${counted(warnings, 'warning', 'warnings')} below: read before you quote a figure.`)));
  }
  if (data.scores.length) part.append(element('h3', {}, 'Overall speed'), ...scoreTable(data));
}
