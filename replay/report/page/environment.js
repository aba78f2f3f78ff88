// Warnings, environment and method.

function showWarnings(data) {
  const several = data.results.length > 1;
  const all = data.results.flatMap((result) => result.warnings.map((one) => ({one, result})));
  if (all.length === 0) return;
  const part = section('Warnings');
  part.id = 'warnings';
  // Groups warnings with the same code and next step.
  const kinds = new Map();
  for (const item of all) {
    const kind = `${item.one.code}\n${item.one.next_step}`;
    kinds.set(kind, [...(kinds.get(kind) || []), item]);
  }
  // The texts of a kind, each with the results that it holds for.
  const texts = (list) => unique(list.map(({one}) => one.text)).map((text) => {
    const names = unique(list.filter(({one}) => one.text === text).map(({result}) => result.name));
    return [named(text), several ? [' (', named(names.join(', ')), ')'] : ''];
  });
  const others = (list) => unique(list.filter(({one}) => one.text !== list[0].one.text).map(({result}) => result.name));
  part.append(element('ul', {class: 'warnings'}, [...kinds.values()].map((list) => {
    const [first, ...more] = texts(list);
    return element('li', {},
        element('strong', {}, first), ' ', element('code', {}, list[0].one.code),
        list[0].one.next_step ? element('div', {class: 'next'}, '→ ', named(list[0].one.next_step)) : '',
        more.length ? collapsible(`${whole(more.length)} more of this kind${several ? `: ${others(list).join(', ')}` : ''}`,
            () => element('ul', {}, more.map((text) => element('li', {}, text)))) : '');
  })));
}

function driveText(drive) {
  const kind = drive.rotational === undefined ? '' : drive.rotational ? 'rotating' : 'solid state';
  return [[drive.model, drive.firmware && `firmware ${drive.firmware}`, drive.serial && `serial ${drive.serial}`]
              .filter(Boolean).join(', '),
          [drive.name, drive.transport, drive.size ? size(drive.size) : '', kind].filter(Boolean).join(', '),
          [drive.scheduler && `scheduler ${drive.scheduler}`, drive.write_cache,
           drive.physical_block ? `block size ${drive.logical_block} / ${drive.physical_block}\u202fB` : '',
           drive.queue_requests ? `queue length ${drive.queue_requests}` : '',
           drive.read_ahead_kib ? `read-ahead ${drive.read_ahead_kib}\u202fKiB` : ''].filter(Boolean).join(', ')]
      .filter(Boolean).join('; ');
}

function shareText(share) {
  return [share.source, share.protocol + (share.transport ? ` over ${share.transport}` : ''),
          [share.server && `server ${share.server}`, share.address !== share.server && share.address].filter(Boolean).join(', '),
          share.interface && `link ${share.interface}${share.link_mbit_per_s ? `, ${share.link_mbit_per_s}\u202fMbit/s` : ''}`]
      .filter(Boolean).join('; ');
}

// filereel's overhead, for the jobs with a known one.
function overheadText(jobs) {
  const costs = jobs.map((job) => Math.round(job.overhead_ns)).filter((cost) => cost > 0);
  if (costs.length === 0) return '';
  const low = Math.min(...costs), high = Math.max(...costs);
  return `${low === high ? low : `${low} to ${high}`}\u202fns per operation`;
}

// A part of the processors, as in terminals; whole() groups the digits of integers only.
const coresText = (cores) => cores ? `${Number(cores.toPrecision(4))} ${cores === 1 ? 'core' : 'cores'}` : '';

// The properties of a volume as pairs of name and value.
function volumeFacts(volume) {
  return [
    ['file system', volume.file_system], ['target', volume.target],
    ['offset', volume.start === undefined ? '' : size(volume.start)],
    ...(volume.states || []).map((one) => [one.layer, one.state]), ['kind', volume.target_kind],
    ['driver', driverText(volume, 'kernel driver')], ['age', volume.age],
    ['size', volume.size ? size(volume.size) : ''], ['layers', volume.layers.join(' on ')],
    ...(volume.features_unknown ? [['features', `unknown (${volume.features_unknown})`]] : Object.entries(volume.features || {})),
    ['in use before', volume.used === undefined ? '' : `${Math.round(volume.used * 100)}\u202f%`],
    ['mount options', unique((volume.mount_options || '').split(',')).join(', ')],
  ].filter(([, value]) => value);
}

const volumesOf = (result) => [...result.volumes, ...result.control.map((volume) => ({...volume, role: 'control'}))];

// `apart`: a row for each property of a volume, so that those that differ between results stand out.
function environmentOf(result, apart) {
  const host = result.host;
  const rows = [
    ['Label', result.label], ['Note', result.note], ['Result file', result.file], ['Started', result.started],
    ['Complete', result.complete ? 'yes' : 'no: the run ended early'],
    ['Processor', host.cpu && `${host.cpu}, ${counted(host.cores, 'core', 'cores')}`],
    ['Processors it may use', host.cpu_set], ['CPU quota', coresText(host.cpu_quota)],
    ['Memory limit', host.memory_limit ? size(host.memory_limit) : ''],
    ['Memory', host.memory ? size(host.memory) : ''], ['Kernel', host.kernel && `Linux ${host.kernel}${host.kernel_build ? `, ${host.kernel_build}` : ''}`],
    ['Microcode', host.microcode], ['Governor', host.governor], ['Clock source', host.clock_source], ['Kind of machine', host.machine],
    ['filereel', result.version], ['Overhead of filereel', overheadText(result.plan.jobs)],
    ['Plan', `${result.plan.name}, ${describePlan(result)}`],
  ];
  const drives = unique(result.volumes.filter((volume) => !volume.network).flatMap((volume) => volume.drives.map(driveText)));
  drives.forEach((text, i) => rows.push([drives.length > 1 ? `Drive ${i + 1}` : 'Drive', text]));
  const shares = unique(result.volumes.filter((volume) => volume.network).map((volume) => shareText(volume.network)));
  shares.forEach((text, i) => rows.push([shares.length > 1 ? `Share ${i + 1}` : 'Share', text]));
  // The same names in all results, so that their rows match.
  const single = data.results.every((one) => unique(volumesOf(one).map((volume) => volume.file_system)).length < 2);
  for (const volume of volumesOf(result)) {
    const name = [volume.role, volume.part, single && apart ? '' : volume.file_system].filter(Boolean).join(', ');
    const list = volumeFacts(volume);
    if (apart) rows.push(...list.map(([what, value]) => [`${name}: ${what}`, value]));
    else rows.push([name, list.slice(1).map(([what, value]) => ['target', 'kind', 'driver', 'age', 'size', 'layers'].includes(what)
        ? value : `${what} ${value}`).join('; ')]);
  }
  return rows;
}

// What each job does, as far as the results tell; the same in all results once.
function showWork(data) {
  const all = new Map();
  for (const result of data.results) {
    for (const work of result.plan.work) {
      const text = JSON.stringify(work);
      all.set(text, {work, results: [...(all.get(text)?.results || []), result.name]});
    }
  }
  if (all.size === 0) return;
  const part = section('What it does');
  part.id = 'work';
  for (const {work, results} of all.values()) {
    const some = results.length < data.results.length;
    part.append(collapsible([named(work.title), work.description ? [': ', named(work.description)] : '',
                             some ? [' (', named(results.join(', ')), ')'] : ''],
        () => element('div', {},
            work.file && work.file !== work.job ? element('p', {}, 'File: ', named(work.file)) : '',
            element('pre', {class: 'work'}, (work.does || []).join('\n')))));
  }
}

// For one result everything; for several, the common values once, and what else each has. The
// differences are in the summary, those of two results with their comparison.
function showEnvironment(data) {
  const part = section('Environment');
  const columns = data.results.map((result) => new Map(environmentOf(result, data.results.length > 1)));
  const valueOf = (column, name) => column.get(name) || '–';
  const names = unique(columns.flatMap((column) => [...column.keys()]))
      .filter((name) => columns.some((column) => valueOf(column, name) !== '–'));
  const differs = (name) => unique(columns.map((column) => valueOf(column, name))).length > 1;
  const same = names.filter((name) => !differs(name)), other = names.filter(differs);
  part.append(table(columns.length > 1 ? 'Common to all' : 'Machine and volumes', ['', ''],
      same.map((name) => [named(name), named(valueOf(columns[0], name))]), {left: [1]}));
  if (columns.length === 1) return;
  if (other.length === 0) return;
  part.append(collapsible('What else each has', () => element('div', {}, data.results.map((result, i) =>
    table(result.name, ['', ''], other.filter((name) => columns[i].get(name))
        .map((name) => [named(name), named(columns[i].get(name))]), {left: [1]})))));
}

const GLOSSARY = [
  ['MB/s', '10⁶ bytes read and written per second. A copy counts its content once.'],
  ['until durable', 'The time ends when everything is on the device: the file system and the drive have confirmed the write-back. On a share, it ends when the server has confirmed the data; the warnings say so if that does not mean that its drives have them.'],
  ['until calls return', 'The time ends when the last call has returned; written data may still be in memory.'],
  ['near, far', 'The volumes: near is the volume under test (some workloads use several at once); copy-far copies from near to far.'],
  ['median', 'The middle value: half of the samples are lower, half are higher.'],
  ['95 % interval', 'Contains the true median with at least 95 % confidence, as far as the runs of this session tell: from one of its runs to another; their distribution does not matter. It takes six runs.'],
  ['range', 'Minimum to maximum of the runs, where they are too few for an interval. It has no confidence level.'],
  ['95 %, sessions', 'A 95 % interval that also contains the spread which sessions (other days, other boots) are assumed to have, so it is wider than that of the runs: that of times, of indices, and of ratios between sessions. Ratios of volumes measured in turns, with a control volume or in several sessions rest on measured figures alone: theirs are called 95 % interval.'],
  ['proven', 'The corrected p is at most 0.015, or 0.0075 in a ranking, and the change is larger than the threshold. “slower”, “faster” and different ranks are proven. The ranks of predictions are proven at 5 %, without a threshold. ▲ marks all that are neither proven nor indicated to be slower than another.'],
  ['indicated', 'The 95 % interval lies beyond the threshold, but that is not proven. Where nothing differs, this is seen once in 20 measurements by chance.'],
  ['p (Holm)', 'The probability of a difference at least this large if there was none, in either direction, corrected by Holm\'s method for all tests of the comparison. A verdict needs at most 0.015: half of it is in each direction, which keeps the promise of at most 1 false alarm in 100 comparisons.'],
  ['provable change', 'The smallest change that these runs could have proven. With “same” or “cannot tell”: a smaller one may exist.'],
  ['sqrt(MB/s × accesses/s)', 'The figure of the index “recorded programs”: the geometric mean of the data rate and of the accesses per second, both during the time in which reads and writes were in progress. It weighs large and small accesses alike.'],
  ['medians and ratios', 'A ratio is not that of the two medians: it is the median over all pairs of runs or, in turns, the mean over the turns.'],
  ['outlier', 'A sample far from the others: its modified Z-score is above 3.5. It still counts.'],
  ['p99', 'The 99th percentile: 99 of 100 calls took at most this long.'],
  ['tail', 'The slowest operations: p99, or p99.9 with enough of them. The comparison shows the kind of operation and the size class with the most significant change.'],
  ['stall', 'An operation that takes far longer than is usual for its kind, and at least 10 ms.'],
  ['share of the block-level speed', 'The speed of the file access, as a share of what fio reaches on the same device with the same block size.'],
  ['device bytes per file byte', 'Bytes that reached the device, including journal and metadata, per byte of file content.'],
  ['incomplete', 'The run was interrupted or failed; the remaining measurements are missing.'],
];

// How repetitions start.
function preparationText(results) {
  const kinds = unique(results.flatMap((result) => result.volumes.map((volume) => volume.target_kind)));
  const formatted = kinds.some((kind) => kind !== 'directory'), directories = kinds.includes('directory');
  const where = formatted && directories;
  return [formatted ? `Each repetition${where ? ' on images and devices' : ''} starts with freshly formatted file systems.` : '',
          directories ? `Each repetition${where ? ' in directories' : ''} starts with a new directory on the file system as it is.` : '']
      .filter(Boolean).join(' ');
}

function showMethod(data) {
  const part = section('Method');
  for (const text of unique(data.results.flatMap((one) => one.plan.jobs.map((job) => job.method)))) {
    part.append(element('p', {}, text));
  }
  part.append(preparationText(data.results) ? element('p', {}, preparationText(data.results)) : '',
      element('p', {}, 'Before each step the caches are emptied, unless it says warm: by remounting, by dropping the kernel\'s caches, or file by file. The share that was still cached is measured and shown with each sample.'),
      element('p', {}, 'filereel accesses files through a file system. Its figures cover drive, driver and file system together, and are lower than those of block-level tests of the same drive.'),
      element('h3', {}, 'Glossary'),
      element('dl', {class: 'glossary'}, GLOSSARY.flatMap(
          ([word, meaning]) => [element('dt', {}, word), element('dd', {}, meaning)])));
}
