// Latency percentiles on a scale of nines, and the slowest operations.

const PERCENTILES = [['p50_us', 'p50'], ['p90_us', 'p90'], ['p95_us', 'p95'], ['p99_us', 'p99'],
                     ['p99_9_us', 'p99.9'], ['p99_99_us', 'p99.99'], ['max_us', 'max']];
const MOST_LINES = 6;
const NINES = [{value: Math.log10(2), text: '50 %'}, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
    (value) => ({value, text: `${value < 3 ? [0, 90, 99][value] : `99.${'9'.repeat(value - 2)}`} %`}))];

// "97.8 %", "99.97 %": with as many digits as the nines need.
const percentOf = (nines) => `${(100 * (1 - 10 ** -nines)).toFixed(Math.max(1, Math.ceil(nines) - 1))} %`;

// Kinds of operations, each followed by its size classes.
const latencyKinds = (one) => one.kinds.filter((kind) => kind.curve)
    .flatMap((kind) => [kind, ...(kind.sizes || [])]);

function curvePoints({curve}) {
  const points = [];
  for (let i = 0; i < curve.length; i += 2) points.push({x: curve[i], y: curve[i + 1]});
  return points.filter((point) => point.y > 0);
}

// `series` are {name, kind, style}; `listed` are the rows of the table.
function curveChart(title, series, caption, listed = series) {
  const end = Math.max(1, ...series.map(({kind}) => kind.curve[kind.curve.length - 2]));
  const old = series.filter(({kind}) => kind.pooled === false).map(({name}) => name);
  const kept = 'All repetitions pooled; each curve ends at the maximum latency.';
  const medians = 'medians of the repetitions, and the maximum of all, because the result has no histograms.';
  const how = old.length === 0 ? kept
      : old.length === series.length ? `M${medians.slice(1)}` : `${kept} For ${old.join(', ')}: ${medians}`;
  return lineChart({
    title,
    height: 320,
    xTitle: 'share of operations at or below the latency',
    yTitle: 'latency',
    xText: percentOf,
    xTicks: NINES,
    xRange: [NINES[0].value, end],
    text: microseconds,
    logarithmic: true,
    lines: series.map(({name, kind, style}) => ({name, style, points: curvePoints(kind)})),
    words: 'Line chart: latency percentiles. ' + series.map(({name, kind}) => `${name}: ` +
        PERCENTILES.filter(([key]) => kind[key])
            .map(([key, label]) => `${label} ${microseconds(kind[key])}`).join(', ')).join('; ') + '.',
    caption: [caption, how].filter(Boolean).join(' '),
    tableOf: () => latencyTable(listed, how),
  });
}

function latencyTable(series, how) {
  return table(`Latency percentiles. ${how}`,
      ['', 'operations', ...PERCENTILES.map(([, label]) => label)],
      series.map(({name, kind}) => [named(name), {text: whole(kind.operations), value: kind.operations},
        ...PERCENTILES.map(([key]) => kind[key] ? {text: microseconds(kind[key]), value: kind[key]} : '–')]));
}

// Curves of all kinds of operations of a measurement, and of each kind over all drives and file systems
// with the measurement, see peersOf.
function percentileCurves(one, peers) {
  const kinds = latencyKinds(one);
  if (kinds.length === 0) return null;
  const overview = () => {
    const main = one.kinds.filter((kind) => kind.curve), top = main.slice(0, MOST_LINES);
    return curveChart('Latency percentiles', top.map((kind) => ({name: kind.kind, kind})),
        main.length > top.length
            ? `The ${top.length} of ${main.length} kinds of operations that took most time.` : null,
        kinds.map((kind) => ({name: kind.kind, kind})));
  };
  const of = (kind) => () => curveChart(`Latency percentiles: ${kind.kind}`, peers
      .map((peer) => ({name: peers.length > 1 ? peer.name : kind.kind, style: peers.length > 1 ? peer.style : 0,
                       kind: latencyKinds(peer.one).find((other) => other.kind === kind.kind)}))
      .filter((peer) => peer.kind));
  const choices = kinds.map((kind) => [kind.kind, of(kind)]);
  if (peers.length === 1 && kinds.length === 1) return overview();
  if (data.results.length > 1 && peers.length > 1) choices.push(['all kinds, this measurement', overview]);
  else choices.unshift(['all kinds', overview]);
  const inner = element('div');
  const show = (index) => place(inner, [choices[index][1]()]);
  const part = element('div', {}, element('div', {class: 'controls'}, selection('Percentiles of',
      choices.map(([name], i) => [String(i), name]), (value) => show(Number(value)))), inner);
  part.draw = () => show(0);
  return part;
}

function slowestTable(one) {
  const list = one.slowest;
  if (list.length === 0) return null;
  const otherService = list.some((row) => row[8] !== null), recorded = Boolean(one.replay);
  const time = (us) => us === null ? '–' : {text: microseconds(us), value: us};
  return collapsible(`The ${list.length} slowest operations`, () => table(
      otherService ? 'The slowest operations of all repetitions; latency is measured from the scheduled time'
                   : 'The slowest operations of all repetitions',
      ['latency', 'operation', 'file', 'offset', 'length', 'repetition', 'at', 'thread',
       ...(otherService ? ['in the call'] : []), ...(recorded ? ['position in the trace'] : [])],
      list.map(([run, operation, path, offset, length, thread, at, latency, service, position]) => [
        time(latency), operation, named(path), {text: whole(offset), value: offset},
        {text: length % 1024 ? size(length) : length ? binarySize(length) : '–', value: length}, run, {text: seconds(at), value: at}, thread,
        ...(otherService ? [time(service)] : []),
        ...(recorded ? [{text: whole(position), value: position}] : [])]),
      {left: [1, 2]}));
}
