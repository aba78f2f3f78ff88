// Details of one measurement: samples, latencies, time by kind of operation, and time series.

// The rates of the rounds before the steady state are those that count for the measurement (main_rates).
function earlierRounds(one, figure) {
  const main = ['mb_per_s', 'files_per_s', 'operations_per_s'].find((key) => one.figures[key]);
  return figure === main ? one.earlier_rounds.map((y, i) => ({x: i + 1, y})) : [];
}

function samplesChart(one) {
  const figure = Object.keys(FIGURES).find((key) => one.figures[key]);
  if (!figure) return null;
  const points = one.samples.filter((sample) => sample[figure] !== undefined)
      .map((sample) => ({x: sample.run, y: sample[figure]}));
  if (points.length < 2) return null;
  const spread = spreadIn(one, figure);
  const range = rangeOf(spread);
  const earlier = earlierRounds(one, figure);
  const before = earlier.length > 0 ? [{name: 'before the steady state', points: earlier, style: 1}] : [];
  return lineChart({
    title: `Samples: ${FIGURES[figure].title}`,
    xTitle: earlier.length > 0 ? 'round' : 'repetition',
    yTitle: FIGURES[figure].unit,
    xLabels: [...earlier, ...points].map((point) => point.x),
    text: number,
    dots: true,
    height: 240,
    lines: [{name: one.subject, points, style: 0}, ...before],
    words: `Dot chart: ${one.subject} on ${one.file_system}, ${FIGURES[figure].title}, by repetition: ` +
        points.map((point) => number(point.y)).join(', ') + '.' + (earlier.length > 0
        ? ` Before the steady state: ${earlier.map((point) => number(point.y)).join(', ')}.` : ''),
    caption: `Median ${number(spread.median)}` + (range
        ? `, ${range.sure ? '95 % interval' : 'range'} ${number(range.low)}–${number(range.high)}` : '') +
        `; ${counted(points.length, 'sample', 'samples')}` + (earlier.length > 0
        ? ` after ${counted(earlier.length, 'round', 'rounds')} before the steady state.` : '.'),
  });
}

function sharesChart(one) {
  const kinds = one.kinds;
  if (kinds.length === 0) return null;
  const top = kinds.slice(0, 10);
  const names = ['share of the time in calls', 'share of calls'];
  const values = [top.map((kind) => kind.share_of_time), top.map((kind) => kind.share_of_calls)];
  return chartFigure({
    title: 'Time by kind of operation',
    height: top.length * (2 * BAR + GAP) + 90,
    words: 'Bar chart: operations by kind. ' + top.map((kind) =>
      `${kind.kind}: ${share(kind.share_of_time)} of the time, ${share(kind.share_of_calls)} of the calls`).join('; ') + '.',
    caption: kinds.length > top.length ? `Top ${top.length} of ${kinds.length} kinds.` : null,
    make: () => ({
      type: 'bar',
      plugins: [whiskers],
      data: {
        labels: top.map((kind) => kind.kind),
        datasets: names.map((name, s) => ({
          label: name, data: values[s], texts: values[s].map(share), backgroundColor: patternOf(s),
          borderColor: colourOf(s), borderWidth: 1, barThickness: BAR - 3,
        })),
      },
      options: {
        indexAxis: 'y',
        layout: {padding: {right: 40}},  // for the values
        scales: {
          x: axis('', {beginAtZero: true, max: Math.min(1, Math.ceil(Math.max(...values.flat()) * 10) / 10),
                       ticks: {callback: (value) => `${Math.round(value * 100)} %`, maxTicksLimit: 6}}),
          y: axis('', {grid: {display: false}, ticks: {autoSkip: false, color: theme.colour('--text'),
                       callback(value, i) { return fittedLabels(this.chart, top.map(({kind}) => kind))[i]; }}}),
        },
        plugins: {
          legend: {display: true, position: 'bottom', labels: {color: theme.colour('--text'), boxHeight: 9}},
          tooltip: {callbacks: {label: (item) => `${item.dataset.label}: ${share(item.parsed.x)}`}},
        },
      },
    }),
    tableOf: () => table('Operations of all repetitions',
        ['operation', 'calls', 'share', 'errors', 'bytes', 'time in calls', 'share'],
        kinds.map((kind) => [kind.kind, {text: whole(kind.count), value: kind.count},
          share(kind.share_of_calls), whole(kind.errors), size(kind.bytes),
          {text: seconds(kind.seconds), value: kind.seconds},
          {text: share(kind.share_of_time), value: kind.share_of_time}])),
  });
}

function measurementFacts(one) {
  const pairs = Object.keys(FIGURES).filter((key) => one.figures[key]).map((key) => {
    const spread = spreadIn(one, key), range = rangeText(key, spread);
    return [FIGURES[key].title, `${figureText(key, spread.median)}${range ? ` (${range})` : ''}`];
  });
  pairs.push(['Driver', named(driverText(one, 'kernel'))]);
  if (one.block_share !== undefined) pairs.push(['Share of the block-level speed', share(one.block_share)]);
  if (one.latency_share !== undefined) pairs.push(["File system's share of latency", share(one.latency_share)]);
  if (one.device_written !== undefined) {
    pairs.push(['Device bytes written per file byte', number(one.device_written)]);
  }
  if (one.device_read !== undefined) pairs.push(['Device bytes read per file byte', number(one.device_read)]);
  if (one.replay) {
    const replay = one.replay;
    pairs.push(['Data', `${size(replay.bytes_read)} read, ${size(replay.bytes_written)} written`]);
    if (replay.lateness) {
      pairs.push(['Lateness', `${microseconds(replay.lateness.p50_us)} (median), ${microseconds(replay.lateness.p99_us)} (p99)`]);
    }
    pairs.push(['Divergences', replay.differ === 0 ? 'none'
        : (Object.entries(replay.classes).map(([name, count]) => `${whole(count)} ${name}`).join(', ') || whole(replay.differ)) +
            replay.in_runs]);
    if (replay.refused) {
      const what = Object.entries(replay.refusals).map(([name, count]) => `${name}: ${whole(count)}`).join(', ');
      pairs.push(['Not executed', counted(replay.refused, 'operation', 'operations') + (what ? ` (${what})` : '')]);
    }
    if (replay.unverified) pairs.push(['Not compared', counted(replay.unverified, 'result', 'results')]);
    if (replay.tree) pairs.push(['Final tree', replay.tree.differences === 0 ? 'matches the trace'
        : counted(replay.tree.differences, 'difference', 'differences') + replay.in_runs]);
  }
  if (one.how) {
    const how = one.how;
    pairs.push(['Replayed', `order ${how.order}, pace ${how.pace}, engine ${how.engine}` +
        (how.depth ? ` at depth ${how.depth}` : '') + (how.clients > 1 ? `, ${how.clients} clients` : '')]);
    if (how.recorded_s > 0) pairs.push(['Recorded time', seconds(how.recorded_s)]);
  }
  if (one.without_direct_io) pairs.push(['Page cache', 'used instead of direct I/O']);
  const ended = {precise: 'interval narrow enough', budget: 'no further one fits into the time budget', most: 'maximum number of repetitions'}[one.runs_ended];
  if (ended) pairs.push(['End of repetitions', ended]);
  return facts(pairs);
}

function samplesTable(list, severalResults) {
  const heading = [...(severalResults ? ['result'] : []), 'measurement', 'file system', 'run', 'elapsed',
                   'until durable', 'bytes', 'files', 'operations', 'MB/s', 'files/s', 'CPU time',
                   'device read', 'device written', 'cached before', ''];
  const rows = list.flatMap(({one, result}) => one.samples.map((sample) => [
    ...(severalResults ? [named(result.name)] : []), named(one.subject), one.file_system, sample.run,
    {text: seconds(sample.elapsed_s), value: sample.elapsed_s},
    {text: seconds(sample.durable_s), value: sample.durable_s},
    size(sample.bytes), whole(sample.files), whole(sample.operations),
    sample.mb_per_s === undefined ? '–' : {text: number(sample.mb_per_s), value: sample.mb_per_s},
    sample.files_per_s === undefined ? '–' : {text: number(sample.files_per_s), value: sample.files_per_s},
    seconds(sample.cpu_s), size(sample.device_bytes_read), size(sample.device_bytes_written),
    sample.cached_before === undefined ? '–' : share(sample.cached_before),
    sample.failed ? 'failed' : sample.moved_no_data ? 'no data moved' : '',
  ]));
  return table('All samples', heading, rows, {left: severalResults ? [1, 2] : [1]});
}

// The same measurement on all drives and file systems, including this one.
function peersOf(one) {
  const ofRow = (row) => row.cells.map((_, series) => ({name: data.series[series].name, style: series,
                                                        one: measurementOf(row, series)})).filter((peer) => peer.one);
  return data.rows.map(ofRow).find((peers) => peers.some((peer) => peer.one === one));
}

function showMeasurements(data) {
  const list = data.results.flatMap((result) => result.measurements.map((one) => ({one, result})));
  if (list.length === 0) return;
  const several = data.results.length > 1;
  const part = section('Measurements');
  const label = ({one, result}) =>
      (several ? `${result.name}: ` : '') + `${one.subject} on ${one.file_system}${one.failed ? ' (failed)' : ''}`;
  const controls = element('div', {class: 'controls'});
  const about = element('div'), charts = element('div', {class: 'grid'});
  if (list.length > 1) {
    controls.append(selection('Measurement', list.map((item, i) => [String(i), label(item)]),
        (value) => choose(Number(value))));
  }
  part.append(controls, about, charts);

  function choose(index) {
    const {one} = list[index];
    about.replaceChildren(element('h3', {}, named(label(list[index]))), measurementFacts(one));
    if (one.examples.length) {
      about.append(collapsible(`${counted(one.examples.length, 'result differs', 'results differ')}`,
          () => element('ul', {}, one.examples.map((example) =>
            element('li', {}, `repetition ${example.run}: `, named(example.text))))));
    }
    const peers = peersOf(one);
    place(charts, [heatMapOf(one, data.latency_bins), clientsOf(one), percentileCurves(one, peers),
                   throughputChart(one), samplesChart(one), sharesChart(one), slowestTable(one)].filter(Boolean));
  }
  choose(0);

  if (list.some(({one}) => one.block_share !== undefined || one.latency_share !== undefined || one.device_written !== undefined ||
                           one.device_read !== undefined)) {
    part.append(element('h3', {}, 'File efficiency'), efficiencyTable(data, list, several));
  }
  const count = list.reduce((sum, {one}) => sum + one.samples.length, 0);
  const samples = collapsible(`All ${counted(count, 'sample', 'samples')}`, () => samplesTable(list, several));
  samples.classList.add('long');
  part.append(samples);
}

function efficiencyTable(data, list, several) {
  return collapsible('File access and block level', () => {
    const columns = [['share of block-level speed', 'block_share', share], ["file system's share of latency", 'latency_share', share],
                     ['written', 'device_written', number], ['read', 'device_read', number]]
        .filter(([, key]) => list.some(({one}) => one[key] !== undefined));
    const parts = columns.length === 0 ? [] : [table(columns.some(([, , text]) => text === share)
        ? 'File speed relative to block-level speed, and device bytes per file byte' : 'Device bytes per file byte',
        [...(several ? ['result'] : []), 'measurement', 'file system', ...columns.map(([name]) => name)],
        list.map(({one, result}) => [...(several ? [named(result.name)] : []), named(one.subject), one.file_system,
          ...columns.map(([, key, text]) => one[key] === undefined ? '–' : {text: text(one[key]), value: one[key]})]),
        {left: several ? [1, 2] : [1]})];
    const baselines = data.results.flatMap((result) => result.baselines.map((one) => ({one, result})));
    if (baselines.length) {
      parts.push(table('Block level, measured by fio', [...(several ? ['result'] : []), 'pattern', 'file system', 'on', 'block', 'depth', 'MB/s', 'IOPS', 'mean latency', 'p99', 'max', 'version'],
          baselines.map(({one, result}) => [...(several ? [named(result.name)] : []), one.pattern, one.file_system, one.on,
            binarySize(one.block_size), one.depth, {text: number(one.mb_per_s), value: one.mb_per_s},
            {text: number(one.iops), value: one.iops},
            ...['mean_us', 'p99_us', 'max_us'].map((key) => one.latency ? {text: microseconds(one.latency[key]), value: one.latency[key]} : '–'), one.fio])));
    }
    return element('div', {}, parts);
  });
}
