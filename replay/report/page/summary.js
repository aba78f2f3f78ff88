// The summary: measurements, drives and main findings.

// What the results differ in, as the noun for their columns: drives or shares if they are known and no
// two have the same, otherwise the first property of the volume in which all differ.
const compared = (() => {
  if (!data.results) return {};  // the page of a history
  const near = (result) => result.volumes.find((volume) => volume.role === 'near') || {drives: []};
  const shareOf = (result) => near(result).network ? near(result).network.source : '';
  const driveOf = (result) => shareOf(result) || near(result).drives.map(
      (drive) => [drive.model, drive.serial].filter(Boolean).join(' ') || drive.name).join(', ');
  const firmwareOf = (result) => near(result).drives.map((drive) => drive.firmware).join(', ');
  const differ = (of) => {
    const values = unique(data.results.map(of));
    return values.length === data.results.length && values.every(Boolean);
  };
  const allHaveOne = (of) => unique(data.results.map((result) => of(near(result)))).length === 1;
  // Of two volumes, the options are a property of the volume.
  const sameVolume = allHaveOne((volume) => volume.file_system) && allHaveOne((volume) => volume.target);
  const nouns = [
    ['share', 'shares', shareOf],
    ['drive', 'drives', driveOf],
    ['firmware version', 'firmware versions', firmwareOf],
    ['file system', 'file systems', (result) => near(result).file_system],
    ['set of mount options', 'sets of mount options', (result) => sameVolume && near(result).mount_options],
    ['kernel', 'kernels', (result) => result.host.kernel],
    ['volume', 'volumes', (result) => near(result).target],
  ];
  const [one, many] = data.results.length === 1 ? ['file system', 'file systems']
      : nouns.find(([, , of]) => differ(of)) || ['result', 'results'];
  return {one, many};
})();

// The settings of the jobs; jobs with the same settings are grouped.
function describePlan(result) {
  const jobs = result.plan.jobs, settings = unique(jobs.map((job) => job.settings));
  if (settings.length === 1) return settings[0];
  return settings.map((one) => {
    const names = jobs.filter((job) => job.settings === one).map((job) => job.name);
    const many = names.length > 3 ? `${names[0]} and ${names.length - 1} more` : names.join(', ');
    return `${many}: ${one}`;
  }).join('; ');
}

function runsText(result) {
  const counts = result.measurements.map((one) => one.samples.filter((sample) => !sample.failed).length);
  if (counts.length === 0) return 'none';
  const low = Math.min(...counts), high = Math.max(...counts);
  const unused = result.measurements.flatMap((one) => one.samples).filter((sample) => sample.failed).length;
  return `${low === high ? low : `${low} to ${high}`} of each measurement${
      unused ? `; ${counted(unused, 'sample', 'samples')} not used` : ''}`;
}

function whatWasMeasured(result) {
  const measured = result.measurements;
  const all = counted(result.all_measurements, 'measurement', 'measurements');
  return `${result.plan.name}: ${measured.length < result.all_measurements ? `${whole(measured.length)} of ` : ''}${all}`;
}

// Of volumes without a known drive, such as images.
const targetsOf = (volumes) => unique(volumes.map(({target}) => target)).join(', ');

// With its file system if it differs from those under test; '' without one.
function farVolumes(result) {
  const far = result.volumes.filter(({role}) => role !== 'near');
  const own = unique(far.map((one) => one.file_system)).filter(
      (name) => result.measurements.every((one) => one.file_system !== name));
  return far.length ? named(targetsOf(far) + (own.length ? ` (${own.join(', ')})` : '')) : '';
}

function kindOfVolume() {
  if (!data.results.some(({drives}) => drives)) return 'Volume';
  const near = data.results.flatMap(({volumes}) => volumes.filter(({role}) => role === 'near'));
  return near.every(({network}) => network) ? 'Share' : 'Drive';
}

function resultFacts(result) {
  return [
    ['Measurements', whatWasMeasured(result)],
    ['Repetitions', runsText(result)],
    [kindOfVolume(), named(result.drives || targetsOf(result.volumes.filter(({role}) => role === 'near')))],
    ['Far volume', farVolumes(result)],
    ['File systems', named(unique(result.measurements.map((one) => one.file_system)).join(', '))],
    ['Settings', describePlan(result)],
    ['Started', moment(result.started)],
  ];
}

// Common values once, and a row per result for the others.
function resultsTable(results) {
  const rows = results.map(resultFacts);
  const text = (value) => value instanceof Node ? value.textContent : value;
  const differs = (i) => unique(rows.map((row) => text(row[i][1]))).length > 1;
  const columns = rows[0].map((_, i) => i).filter(differs);
  return [facts(rows[0].filter((_, i) => !differs(i))),
          columns.length === 0 ? '' : table('The results', ['', ...columns.map((i) => rows[0][i][0])],
              results.map((result, r) => [named(result.name), ...columns.map((i) => rows[r][i][1] || '–')]),
              {left: columns.map((_, i) => i + 1)})];
}

// A property per row, and who has which of its values.
function differencesTable(differences) {
  return table(`Differences between ${compared.many}, which may be the cause of a difference in speed`, ['', 'values'],
      differences.map(({what, values}) => [named(what), element('ul', {class: 'values'}, values.map(
          ({value, series}) => element('li', {}, named(spaced(value)), ': ', named(series))))]),
      {left: [1]});
}

function incompleteBanner(result) {
  return element('p', {class: 'banner incomplete', role: 'note'},
      element('strong', {}, 'Incomplete'),
      named(result.name), ': ', result.incomplete, '.');
}

// A row per drive and file system, a column per operation.
function scoreTable(data) {
  const operations = unique(data.scores.map((one) => one.operation));
  const of = (series, operation) => data.scores.find((one) => one.result === series.result &&
      one.file_system === series.file_system && one.operation === operation);
  const sets = Math.max(...data.scores.map((one) => one.sets));
  const unit = (operation) => data.scores.find((one) => one.operation === operation).of_files ? 'files/s' : 'MB/s';
  const rows = data.series.filter((series) => operations.some((operation) => of(series, operation)));
  return [sortable(table('Rates (writes until durable)', ['', ...operations.map((one) => `${one}, ${unit(one)}`)],
              rows.map((series) => [named(series.name), ...operations.map((operation) => {
                const score = of(series, operation);
                return score ? {text: number(score.rate), value: score.rate} : '–';
              })])), operations.map(() => true)),
          element('p', {class: 'hint'}, `Each value is the geometric mean of the medians of ${
              counted(sets, 'file set', 'file sets')}. The means are not tested for significance: check the comparison or the whiskers below before you rely on a difference.`)];
}

// " on 3 file systems", if results have several.
function onFileSystems(data) {
  const kinds = unique(data.series.map((one) => one.file_system)).length;
  return kinds > 1 && data.series.length > data.results.length ? ` on ${kinds} file systems` : '';
}

function showSummary(data) {
  const names = data.results.map((one) => one.name);
  const titled = data.predictions.length === 0;  // otherwise by the prediction
  // The banners say what is incomplete, and why.
  const inBanner = (text) => data.results.some((one) => !one.complete && text.endsWith(`${one.incomplete}.`));
  const [verdict] = data.findings.map((text) => inBanner(text) && names.length === 1 ? 'Incomplete' : text);
  const findings = data.findings.slice(titled ? 1 : 0).filter((text) => !inBanner(text));
  if (titled) {
    document.getElementById('title').replaceChildren(
        named(names.length === 1 ? names[0] : `${names.length} ${compared.many} compared${onFileSystems(data)}`));
    document.getElementById('subtitle').replaceChildren(verdict ? named(verdict) : 'File performance');
  }
  const part = section('Summary');
  if (names.length > 1) part.append(element('p', {}, 'File performance of ', named(`${names.slice(0, -1).join(', ')} and ${names.at(-1)}`), '.'));
  for (const result of data.results) {
    if (!result.complete) part.append(incompleteBanner(result));
  }
  if (findings.length) {
    part.append(element('ul', {class: 'findings'},
        findings.map((text) => element('li', {}, named(text)))));
  }
  for (const result of data.results) {
    if (!result.note) continue;
    part.append(element('p', {}, names.length > 1 ? [named(result.name), ': '] : '', named(result.note)));
  }
  if (data.differences.length && !data.comparison) part.append(differencesTable(data.differences));
  part.append(...(names.length > 1 ? resultsTable(data.results) : [facts(resultFacts(data.results[0]))]));
  const warnings = unique(data.results.flatMap((one) => one.warnings.map(({text}) => text))).length;
  if (warnings) {
    part.append(element('p', {class: 'hint'}, element('a', {href: '#warnings'},
        `${counted(warnings, 'warning', 'warnings')} below; read ${warnings === 1 ? 'it' : 'them'} before you quote a value.`)));
  }
  if (data.scores.length) part.append(element('h3', {}, 'Overall speed'), ...scoreTable(data));
}
