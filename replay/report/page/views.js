// The results: the views of a plan as bars, lines, heat maps or tables, with all drives. A view has
// rows (measurements) and series (drives and file systems: bars or lines); a metric selects the
// figure.

const MANY_SERIES = 4;  // from this number, each measurement has its own chart

// The reader's choices; views are redrawn when they change.
const chosen = {metric: '', sorted: true, hidden: new Set()};

function measurementOf(row, series) {
  const place = row.cells[series];
  return place === null ? null : data.results[data.series[series].result].measurements[place];
}

function spreadOf(row, series, metric) {
  const one = measurementOf(row, series);
  return one && spreadIn(one, metric);
}

const rowsOf = (view) => view.rows.map((place) => data.rows[place]);
const shownSeries = () => data.series.map((_, i) => i).filter((i) => !chosen.hidden.has(i));

const hasMetric = (row, metric) => data.series.some((_, i) => spreadOf(row, i, metric));

const metricsOf = (view) => data.metrics.map(({name}) => name)
    .filter((name) => rowsOf(view).some((row) => hasMetric(row, name)));

// The reader's choice if the view has such figures, otherwise the view's own; those of bars and
// tables may have none.
function metricsShown(view) {
  const there = metricsOf(view);
  if (there.includes(chosen.metric)) return [chosen.metric];
  return view.metrics.filter((name) => there.includes(name));
}

// Metrics, each with the rows to show by it. A row without any of those asked for has its own: a phase
// of accesses has no files/s.
function groupsOf(view) {
  const rows = rowsOf(view);
  const groups = metricsShown(view).map((metric) => ({metric, rows: rows.filter((row) => hasMetric(row, metric))}));
  const shown = new Set(groups.flatMap((group) => group.rows));
  for (const row of rows.filter((one) => !shown.has(one) && hasMetric(one, one.metric))) {
    const group = groups.find(({metric}) => metric === row.metric);
    if (group) group.rows.push(row);
    else groups.push({metric: row.metric, rows: [row]});
  }
  return groups;
}

// The first metric of a row in a view.
const metricOf = (view, row) => view.metrics.find((name) => hasMetric(row, name)) || row.metric;

const axesOf = (row) => (data.results.flatMap((one) => one.plan.jobs)
    .find((job) => job.name === row.workload) || {axes: []}).axes;

// The coordinates of a row: on the axes of its sweep, and by job, phase and file set.
const coordinatesOf = (row) => ({job: row.workload, phase: row.operation, set: row.set,
                                 ...Object.fromEntries(row.parameters)});

// The axes on which the rows differ, each with its values in the order of measuring.
function axesThatVary(rows) {
  const axes = [];
  for (const row of rows) {
    for (const [name, value] of Object.entries(coordinatesOf(row))) {
      let axis = axes.find((one) => one.name === name);
      if (!axis) axes.push(axis = {name, values: []});
      if (!axis.values.includes(value)) axis.values.push(value);
    }
  }
  for (const axis of axes) {
    const known = (axesOf(rows[0]).find((one) => one.name === axis.name) || {values: []}).values;
    axis.values = [...known.filter((one) => axis.values.includes(one)),
                   ...axis.values.filter((one) => !known.includes(one))];
  }
  return axes.filter(({values}) => values.length > 1);
}

const plainAxes = ['job', 'phase', 'set'];
// Numbers and truth values say nothing without the name of their axis.
const needsName = (value) => /^([0-9]|true$|false$)/.test(value);
const placeText = (name, value) => plainAxes.includes(name) || !needsName(value) ? value : `${name} ${value}`;

// Names that distinguish the rows of a view.
function rowNames(rows) {
  const axes = axesThatVary(rows);
  const placesOf = (row) => axes.filter(({name}) => coordinatesOf(row)[name] !== undefined)
      .map(({name}) => placeText(name, coordinatesOf(row)[name]));
  return rows.map((row) => placesOf(row).filter((text) => text && text !== 'run').join(', ') || row.set ||
      (['run', 'replay'].includes(row.operation) ? row.workload : row.operation));
}

const better = (metric, a, b) => FIGURES[metric].more ? b - a : a - b;

// Why a figure must not stand beside the others; '' if it may.
function obstacleOf(row, series) {
  if ((measurementOf(row, series) || {}).failed) return 'failed';
  return (row.other_work || []).includes(series) ? 'other work' : '';
}

// What charts show: nothing of what cannot be compared.
const shownSpread = (row, series, metric) => obstacleOf(row, series) ? null : spreadOf(row, series, metric);

// The series with a figure, sorted if the reader wants the best first, then those with a note instead.
function ordered(row, metric) {
  const list = shownSeries().map((series) => ({series, spread: shownSpread(row, series, metric), note: noteOf(row, series)}));
  const shown = list.filter(({spread}) => spread);
  if (chosen.sorted) shown.sort((a, b) => better(metric, a.spread.median, b.spread.median));
  return [...shown, ...list.filter(({spread, note}) => !spread && note)];
}

// What the ranking of `filereel compare` says of a series, for the figures that were tested: ▲ the others
// are proven slower or not shown to differ, △ it is indicated to be the fastest, or nothing.
const standingOf = (row, series, metric) =>
  (row.tested || []).includes(metric) ? ['', '△', '▲'][row.standings[series] || 0] : '';

const noteOf = (row, series) => {
  const one = measurementOf(row, series);
  if (!one) return '';
  if (obstacleOf(row, series)) return obstacleOf(row, series);
  return one.samples.some((sample) => sample.moved_no_data) ? 'no data moved' : '';
};

// Few series: the bars of all rows in one chart. Many: a chart per row, the best bar first.
function barFigures(view, {metric, rows}) {
  const series = shownSeries(), title = titleOf(view, metric), all = rowNames(rowsOf(view));
  const names = rows.map((row) => all[rowsOf(view).indexOf(row)]);
  if (series.length < MANY_SERIES) {
    return [barChart({
      title, figure: metric, categories: names, names: series.map((i) => data.series[i].name), styles: series,
      spreads: series.map((i) => rows.map((row) => shownSpread(row, i, metric))),
      notes: series.map((i) => rows.map((row) => noteOf(row, i))),
    })];
  }
  return rows.map((row, r) => ({row, name: names[r], list: ordered(row, metric)}))
      .filter(({list}) => list.some(({spread}) => spread))
      .map(({name, list}) => barChart({
        title: all.length > 1 ? `${titleOf(view, metric)}, ${name}` : title, figure: metric,
        categories: list.map(({series: i, spread, note}) => spread ? data.series[i].name : `${data.series[i].name} (${note})`),
        names: [name],
        spreads: [list.map(({spread}) => spread)], notes: [list.map(({note}) => note)], categoryStyles: list.map(({series: i}) => i),
      }));
}

const titleOf = (view, metric) => `${view.title}: ${FIGURES[metric].title}`;

// The axes of a view, and a lookup of rows by their values.
function gridOf(view) {
  const rows = rowsOf(view), axes = axesThatVary(rows);
  const key = (at) => axes.map(({name}) => at[name]).join('\n');
  const places = new Map(rows.map((row) => [key(coordinatesOf(row)), row]));
  return {axes, rowAt: (at) => places.get(key(at))};
}

// The state of a sweep view: its axes, and the values of those not drawn.
function sweepState(view) {
  const grid = gridOf(view);
  const across = grid.axes.find((axis) => axis.name === view.by) || grid.axes[grid.axes.length - 1] ||
      {name: view.by, values: ['']};
  const at = Object.fromEntries(grid.axes.map((axis) =>
      [axis.name, axis.values.includes(view.at[axis.name]) ? view.at[axis.name] : axis.values[0]]));
  return {...grid, across, at, lines: '', form: view.form};
}

const otherAxes = (state) => state.axes.filter((axis) => axis !== state.across);

// Lines: one per series or, for a single series, per value of another axis.
function lineFigure(view, metric, state) {
  const series = shownSeries();
  const fixed = otherAxes(state).filter((axis) => axis.name !== state.lines);
  const lineAxis = otherAxes(state).find((axis) => axis.name === state.lines);
  const spread = (i, at) => {
    const row = state.rowAt(at);
    return row ? shownSpread(row, i, metric) : null;
  };
  const along = (i, at) => state.across.values.map((value) => spread(i, {...at, [state.across.name]: value}));
  const lines = lineAxis
      ? lineAxis.values.map((value, v) => ({name: `${lineAxis.name} ${value}`, style: v,
          spreads: along(state.series, {...state.at, [lineAxis.name]: value})}))
      : series.map((i) => ({name: data.series[i].name, style: i, spreads: along(i, state.at)}));
  const drawn = lines.filter((line) => line.spreads.some(Boolean));
  if (drawn.length === 0) return [];
  const where = [lineAxis && data.series.length > 1 ? data.series[state.series].name : '',
                 ...fixed.map((axis) => placeText(axis.name, state.at[axis.name]))]
      .filter(Boolean).join(', ');
  const title = titleOf(view, metric) + (where ? `, ${where}` : '');
  return [lineChart({
    title,
    xTitle: state.across.name,
    logarithmic: isWide(drawn.flatMap((line) => line.spreads)),
    yTitle: FIGURES[metric].unit,
    xLabels: state.across.values,
    text: (value) => figureText(metric, value),
    lines: drawn.map((line) => ({name: line.name, style: line.style,
      points: line.spreads.map((one) => one ? one.median : null),
      ranges: line.spreads.map((one) => one && rangeOf(one) && [rangeOf(one).low, rangeOf(one).high, rangeOf(one).sure])})),
    words: `Line chart: ${title}. ` + drawn.map((line) => `${line.name}: ` +
        state.across.values.map((x, c) => `${state.across.name} ${x} ${
            line.spreads[c] ? figureText(metric, line.spreads[c].median) : 'not measured'}`).join(', ')).join('; ') + '.',
    tableOf: () => table(title, [lineAxis ? `${lineAxis.name} \\ ${state.across.name}` : state.across.name, ...state.across.values],
        drawn.map((line) => [named(line.name), ...line.spreads.map((one) => spreadCell(metric, one))])),
  })];
}

// A heat map of two axes per series, coloured from the worst to the best figure of all.
function matrixFigures(view, metric, state) {
  const down = otherAxes(state).find((axis) => axis.name === state.down) || otherAxes(state)[0];
  const fixed = otherAxes(state).filter((axis) => axis !== down);
  const at = (row, column) => state.rowAt({...state.at, [down.name]: row, [state.across.name]: column});
  const where = fixed.map((axis) => placeText(axis.name, state.at[axis.name])).join(', ');
  const maps = shownSeries().map((i) => ({i, cells: down.values.map((row) => state.across.values.map((column) => {
    const found = at(row, column);
    return found ? shownSpread(found, i, metric) : null;
  }))})).filter(({cells}) => cells.flat().some(Boolean));
  const figures = maps.flatMap(({cells}) => cells.flat()).filter(Boolean).map((one) => one.median).filter((one) => one > 0);
  const least = Math.log(Math.min(...figures)), most = Math.log(Math.max(...figures));
  return maps.map(({i, cells}) => {
    const caption = `${titleOf(view, metric)}${where ? `, ${where}` : ''}` + (data.series.length > 1 ? `: ${data.series[i].name}` : '');
    const made = table(caption, [`${down.name} \\ ${state.across.name}`, ...state.across.values],
        down.values.map((value, r) => [value, ...cells[r].map((one) => one
            ? {text: figureText(metric, one.median), value: one.median} : '–')]));
    made.classList.add('heat');
    [...made.querySelectorAll('td')].forEach((cell) => {
      const value = Number(cell.dataset.value);
      if (!(value > 0)) return;
      const share = most > least ? (Math.log(value) - least) / (most - least) : 1;
      shadeCell(cell, share);
    });
    return element('figure', {class: state.across.values.length > 8 ? 'wide' : null}, element('h3', {}, caption), made);
  });
}

// A row per drive. Columns are {name, metric, of(series), sign(series)}.
function driveTable(caption, columns) {
  return sortable(plainDriveTable(caption, columns), columns.map(({metric}) => FIGURES[metric].more));
}

function plainDriveTable(caption, columns) {
  const series = shownSeries();
  return table(caption, ['', ...columns.map(({name, metric}) => `${name}, ${FIGURES[metric].short}`)],
      series.map((i) => [wholeWords(data.series[i].name), ...columns.map(({metric, of, sign}) => {
        const one = of(i);
        if (!one || one.median === undefined) return one || '–';
        return {text: `${figureText(metric, one.median)} ${sign(i)}`.trimEnd(), value: one.median,
                class: sign(i) === '▲' ? 'best' : null};
      })]));
}

const columnOf = (row, name, metric) => ({
  name, metric, of: (series) => spreadOf(row, series, metric) || noteOf(row, series),
  sign: (series) => obstacleOf(row, series) ? `(${obstacleOf(row, series)})` : standingOf(row, series, metric)});

// The columns of a row: its metric and, if a difference is shown in another figure, that one.
function columnsOf(row, name, metric) {
  const tested = row.tested || [], marked = (row.standings || []).some((one) => one > 0);
  const metrics = marked && tested.length > 0 && !tested.includes(metric) ? [metric, tested.at(-1)] : [metric];
  return metrics.map((one) => columnOf(row, name, one));
}

// Makes headings sort the rows by their column, the best first; the first column sorts by name.
function sortable(scroller, moreIsBetter) {
  const head = [...scroller.querySelectorAll('thead th')], body = scroller.querySelector('tbody');
  head.forEach((heading, column) => {
    const text = heading.textContent;
    const button = element('button', {type: 'button', class: 'sort', onclick: () => {
      const figure = (row) => Number(row.cells[column].dataset.value ?? NaN);
      const rows = [...body.rows].sort((a, b) => {
        if (column === 0) return a.cells[0].textContent.localeCompare(b.cells[0].textContent);
        const difference = (figure(a) - figure(b)) * (moreIsBetter[column - 1] ? -1 : 1);
        return Number.isNaN(difference) ? Number.isNaN(figure(a)) - Number.isNaN(figure(b)) : difference;
      });
      body.replaceChildren(...rows);
      for (const other of head) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', column === 0 || !moreIsBetter[column - 1] ? 'ascending' : 'descending');
    }}, text || compared.one);
    heading.replaceChildren(button);
  });
  return scroller;
}

// By metric, in the order of the rows.
function tableColumns(view, groups) {
  const rows = rowsOf(view), names = rowNames(rows);
  return groups.flatMap(({metric, rows: own}) => own.map((row) => columnOf(row, names[rows.indexOf(row)], metric)));
}

// A view with its figures, and controls if there is a choice.
function showView(view) {
  const state = sweepState(view);
  state.series = 0;
  const holder = element('div', {class: 'view'}), controls = element('div', {class: 'controls'});
  const charts = element('div', {class: 'grid'});
  const isSweep = view.form === 'lines' || view.form === 'matrix';
  if (isSweep) addSweepControls(view, state, controls, () => draw());
  holder.append(element('h3', {class: 'view-title'}, named(view.title)),
      view.text ? element('p', {class: 'quiet'}, view.text) : '', controls, charts);
  function draw() {
    const groups = groupsOf(view);
    if (groups.length === 0) return place(charts, [element('p', {class: 'hint'}, 'No figures: all samples failed.')]);
    const drawn = {
      bars: () => groups.flatMap((group) => barFigures(view, group)),
      lines: () => groups.flatMap(({metric}) => lineFigure(view, metric, state)),
      matrix: () => groups.flatMap(({metric}) => matrixFigures(view, metric, state)),
      table: () => [driveTable(`Measurements by ${compared.one}`, tableColumns(view, groups))],
    }[state.form];
    const figures = drawn();
    if (figures.length === 0) figures.push(element('p', {class: 'hint'}, 'No figures at this point.'));
    charts.classList.toggle('one', figures.length === 1);
    place(charts, figures);
  }
  holder.draw = draw;
  return holder;
}

function addSweepControls(view, state, controls, draw) {
  const several = state.axes.length > 1;
  const redo = () => {
    controls.replaceChildren();
    addSweepControls(view, state, controls, draw);
    draw();
  };
  if (several) {
    controls.append(segments('Chart type', [['lines', 'Curves'], ['matrix', 'Heat map']], state.form,
        (form) => { state.form = form; redo(); }));
    controls.append(selection('x axis', state.axes.map(({name}) => [name, name]), (name) => {
      state.across = state.axes.find((axis) => axis.name === name);
      if (state.lines === name) state.lines = '';
      redo();
    }, state.across.name));
  }
  if (state.form === 'lines' && several) {
    const drives = data.series.length > 1 ? [['', compared.one]] : [];
    const options = [...drives, ...otherAxes(state).map(({name}) => [name, name])];
    if (!options.some(([name]) => name === state.lines)) state.lines = options[0][0];
    controls.append(selection('one line per', options, (name) => { state.lines = name; redo(); }, state.lines));
    if (state.lines && data.series.length > 1) {
      controls.append(selection('of', data.series.map(({name}, i) => [String(i), name]),
          (i) => { state.series = Number(i); draw(); }, String(state.series)));
    }
  }
  if (state.form === 'matrix') {
    const rest = otherAxes(state);
    if (!rest.some(({name}) => name === state.down)) state.down = rest[rest.length - 1].name;
    if (rest.length > 1) {
      controls.append(selection('y axis', rest.map(({name}) => [name, name]), (name) => { state.down = name; redo(); }, state.down));
    }
  }
  const drawn = [state.across.name, state.form === 'matrix' ? state.down : state.lines];
  for (const axis of state.axes.filter(({name}) => !drawn.includes(name))) {
    controls.append(selection(axis.name, axis.values.map((value) => [value, value]),
        (value) => { state.at[axis.name] = value; draw(); }, state.at[axis.name]));
  }
}

// All results in one table; for a sweep, the geometric mean of the points that its view shows
// first.
function overviewColumns() {
  const alone = data.views.length === 1;  // its title need not be repeated
  return data.views.flatMap((view) => {
    const rows = rowsOf(view), metric = view.metrics[0], names = rowNames(rows);
    if (view.form === 'bars' || view.form === 'table' || rows.length === 1) {
      const plain = alone || unique(rows.map((row) => row.workload)).length > 1;  // names of jobs suffice
      return rows.flatMap((row, r) => columnsOf(row,
          rows.length === 1 ? view.title : plain ? names[r] : `${view.title}: ${names[r]}`, metricOf(view, row)));
    }
    const points = rows.filter((row) => Object.entries(view.at).every(
        ([axis, value]) => coordinatesOf(row)[axis] === value));
    return [{name: `${view.title}, geometric mean of ${points.length}`, metric,
             of: (series) => meanOfPoints(points, series, metric), sign: () => ''}];
  });
}

function meanOfPoints(rows, series, metric) {
  if (rows.length === 0) return null;
  let sum = 0;
  for (const row of rows) {
    const one = shownSpread(row, series, metric);
    if (!one || !(one.median > 0)) return null;
    sum += Math.log(one.median);
  }
  const median = Math.exp(sum / rows.length);
  return {median, low: median, high: median};
}

// What the marks of the overview mean, as far as it has any. Rows of predictions alone are not tested.
function overviewNote() {
  const marks = new Set(data.rows.flatMap((row) => row.standings || []));
  // Several file systems of two results are ranked, too.
  const source = data.ranking ? 'the ranking' : 'the comparison';
  return ['Medians; percentiles and maxima of latency are those of all samples together.',
          marks.has(2) ? `▲ marks the fastest${data.ranking && data.ranking.names.length < data.series.length ? ' on its file system' : ''}, and all that are neither proven nor indicated to be slower.` : '',
          marks.has(1) ? '△ marks one that is indicated to be the fastest, which is weaker: repeat the measurement.' : '',
          marks.has(1) || marks.has(2)
              ? `Marks follow ${source}, and are in the columns of the tested figure alone: the time until durable and rates until then, or the elapsed time and rates until then. Where no column has a mark, none is shown or indicated to be the fastest, or it is a mean of measurements, which is not tested.`
              : marks.size > 0 ? 'None is proven or indicated to be the fastest.' : '',
          'Select a heading to sort by it.'].filter(Boolean).join(' ');
}

const COLUMNS_ON_PAPER = 5;

function showOverview(part, columns) {
  if (columns.length === 0) return () => {};
  const holder = element('div');
  part.append(element('h3', {}, 'Overview'),
      element('p', {class: 'hint'}, overviewNote()), holder);
  return () => {
    const screen = element('div', {class: 'on-screen sticky'}, driveTable(`Measurements by ${compared.one}`, columns));
    const paper = element('div', {class: 'on-paper'});
    for (let i = 0; i < columns.length; i += COLUMNS_ON_PAPER) {
      paper.append(plainDriveTable(`Measurements by ${compared.one} (${i / COLUMNS_ON_PAPER + 1} of ${
          Math.ceil(columns.length / COLUMNS_ON_PAPER)})`, columns.slice(i, i + COLUMNS_ON_PAPER)));
    }
    holder.replaceChildren(screen, paper);
  };
}

// The legend of the series; selecting one hides or shows it.
function seriesLegend(draw) {
  const list = element('ul', {class: 'legend', 'aria-label': 'Legend'});
  data.series.forEach((one, i) => {
    const button = element('button', {type: 'button', class: 'toggle', 'aria-pressed': String(!chosen.hidden.has(i)),
      onclick: () => {
        if (chosen.hidden.has(i)) chosen.hidden.delete(i);
        else if (chosen.hidden.size + 1 < data.series.length) chosen.hidden.add(i);
        button.setAttribute('aria-pressed', String(!chosen.hidden.has(i)));
        draw();
      }}, swatchOf(i), named(one.name));
    list.append(element('li', {}, button));
  });
  return list;
}

function showResults(data) {
  if (data.views.length === 0) return;
  const part = section('Results');
  const views = data.views.map(showView);
  const metrics = unique(data.views.flatMap(metricsOf));
  const inOrder = data.metrics.map(({name}) => name).filter((name) => metrics.includes(name));
  const redraw = () => {
    drawOverview();
    for (const view of views) view.draw();
  };
  const controls = element('div', {class: 'controls'});
  if (inOrder.length > 1) {
    controls.append(selection('Metric', [['', 'default of each test'], ...inOrder.map((name) => [name, FIGURES[name].title])],
        (name) => { chosen.metric = name; redraw(); }));
  }
  if (data.series.length >= MANY_SERIES) {
    controls.append(segments('Order', [['sorted', 'Best first'], ['given', 'Input order']], 'sorted',
        (order) => { chosen.sorted = order === 'sorted'; redraw(); }));
  }
  part.append(controls, data.series.length > 1 ? seriesLegend(redraw) : '', whiskerNote());
  const drawOverview = data.series.length > 1 ? showOverview(part, overviewColumns()) : () => {};
  part.append(...views);
  redraw();
}

function whiskerNote() {
  const spreads = data.rows.flatMap((row) => data.series.map((_, i) => measurementOf(row, i)))
      .filter(Boolean).flatMap((one) => Object.values(one.figures));
  if (data.results.every((one) => one.measurements.every(({samples}) => samples.length < 2))) {
    return element('p', {class: 'hint'}, 'Bars and points are the figures of single runs: how far they vary is unknown.');
  }
  const parts = ['Bars and points are medians.'];
  if (spreads.some((one) => one.length > 3)) parts.push('Solid whiskers: 95 % interval of the median.');
  if (spreads.some((one) => one.length === 3 && one[1] < one[2])) {
    parts.push('Dashed whiskers: minimum and maximum of the samples, for percentiles and maxima, and where there are fewer than six samples.');
  }
  return element('p', {class: 'hint'}, parts.join(' '));
}
