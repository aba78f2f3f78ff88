// Several clients: the throughput of each over time as a strip, and how evenly they share it.

const clientsUnit = (run) => run.in_bytes ? 'MB/s' : 'operations/s';
const clientsFigure = (run, perSecond) => perSecond / (run.in_bytes ? 1e6 : 1);
const clientsRate = (run, perSecond) =>
  perSecond === null ? '–' : `${number(clientsFigure(run, perSecond))}\u202f${clientsUnit(run)}`;
const exactMicroseconds = (us) => `${number(us)}\u202fµs`;

// The cells of all clients, `group` intervals each, by row; times are from the earliest start. The
// last cell of a client ends with it. If that is shorter than half a cell, it is merged with the one
// before. Cells without work are left out.
function stripCells(run, group) {
  const width = run.interval_s * group;
  return run.each.flatMap((client, row) => {
    const cells = [];
    client.amounts.forEach((amount, i) => {
      const at = Math.floor(i / group);
      if (i % group === 0) cells.push({from: at * width, to: Math.min((at + 1) * width, client.elapsed_s), amount: 0});
      cells[at].amount += amount;
    });
    const last = cells[cells.length - 1];
    if (cells.length > 1 && last.to - last.from < width / 2) {
      cells.pop();
      const before = cells[cells.length - 1];
      before.to = Math.max(before.to, last.to);
      before.amount += last.amount;
    }
    return cells.filter(({amount}) => amount > 0).map(({from, to, amount}) => ({
      client, row, amount, perSecond: amount / Math.max(to - from, 1e-9),
      from: client.start_s + from, to: client.start_s + to,
    }));
  });
}

// Draws a strip for each client, the legend above them, and the end of the first client.
const strips = {
  id: 'strips',
  beforeDatasetsDraw(chart) {
    const {state} = chart.options.plugins.strips;
    const {ctx: brush, chartArea: area, scales: {x, y}} = chart;
    const {run} = state;
    const group = intervalsPerCell(area.width, (x.max - x.min) / run.interval_s);
    const height = area.height / run.each.length, gap = height < 14 ? 1 : 3;
    const top = (row) => y.getPixelForValue(row) - (height - gap) / 2;
    state.shown = stripCells(run, group).map((one) => {
      const left = x.getPixelForValue(one.from);
      return {...one, interval: Math.round(one.from / (run.interval_s * group)), bin: run.each.length - 1 - one.row,
              left, width: x.getPixelForValue(one.to) - left, top: top(one.row), height: height - gap};
    });
    const most = Math.max(...state.shown.map((one) => one.perSecond));
    brush.save();
    brush.fillStyle = theme.colour('--line');
    run.each.forEach((client, row) => {
      const left = x.getPixelForValue(client.start_s);
      brush.fillRect(left, top(row), x.getPixelForValue(client.start_s + client.elapsed_s) - left, height - gap);
    });
    paintCells(brush, state, (one) => one.perSecond / most);
    if (most > 0) {
      colourLegend(brush, area, clientsUnit(run), [1, 0, 0.5].map((part) =>
        ({share: part, text: part ? number(clientsFigure(run, most * part)) : '0'})));
    }
    markFirstEnd(brush, area, x.getPixelForValue(run.first_ended_s));
    brush.restore();
  },
};

function markFirstEnd(brush, area, at) {
  brush.strokeStyle = brush.fillStyle = theme.colour('--text');
  brush.lineWidth = 1.5;
  brush.setLineDash([4, 3]);
  brush.beginPath();
  brush.moveTo(at, area.top - 4);
  brush.lineTo(at, area.bottom);
  brush.stroke();
  brush.font = `11px ${Chart.defaults.font.family}`;
  brush.textBaseline = 'alphabetic';
  const onLeft = at > (area.left + area.right) / 2;
  brush.textAlign = onLeft ? 'right' : 'left';
  brush.fillText('first client ended', at + (onLeft ? -4 : 4), area.top - 4);
}

function clientStrips(name, run) {
  const count = run.each.length, rowHeight = count <= 8 ? 26 : count <= 24 ? 17 : 11.5;
  const state = {run, aside: Infinity, shown: [], chosen: null,
                 words: (one) => [clientsRate(run, one.perSecond), `client ${one.client.rank} on ${one.client.host}`]};
  const label = (row) => `${run.each[row].rank} ${shortened(run.each[row].host, window.innerWidth < 600 ? 8 : 20)}`;
  const left = run.count > count
      ? ` The ${count / 2} slowest and the ${count / 2} fastest of ${run.count} clients.` : '';
  const figure = chartFigure({
    title: `Clients over time, ${name}`,
    height: Math.round(count * rowHeight) + LEGEND_HEIGHT + 50,
    words: `Strips: ${clientsUnit(run)} of each client over time. The first client ended after ${
        seconds(run.first_ended_s)}, the last after ${seconds(run.elapsed_s)}. ` +
        run.each.map((client) => `Client ${client.rank} on ${client.host}: ${clientsRate(run, client.per_s)}`).join('; ') + '.',
    caption: `Throughput by rank and host, from the earliest start; grey: nothing completed. The dashed line is the ` +
        `end of the first client.${left} Point at a cell, or use the arrow keys, to see its figure.`,
    tableOf: () => table('Clients', ['client', 'host', 'start', 'elapsed', clientsUnit(run)],
        run.each.map((client) => [client.rank, named(client.host), {text: sinceStart(client.start_s), value: client.start_s},
          {text: seconds(client.elapsed_s), value: client.elapsed_s},
          {text: number(clientsFigure(run, client.per_s)), value: client.per_s}]), {left: [1]}),
    make: () => ({
      type: 'scatter',
      plugins: [strips],
      data: {datasets: [{label: 'clients', data: [], cells: stripCells(run, 1)}]},
      options: {
        events: [],
        layout: {padding: {top: LEGEND_HEIGHT, right: 12}},
        scales: {
          x: timeAxis(run.elapsed_s, {grid: {display: false, borderColor: theme.colour('--strong-line')}}),
          y: axis('', {type: 'linear', reverse: true, min: -0.5, max: count - 0.5, grid: {display: false},
            afterBuildTicks: (scale) => { scale.ticks = run.each.map((_, row) => ({value: row})); },
            ticks: {callback: label, autoSkip: false, color: theme.colour('--text'), font: {size: rowHeight < 14 ? 9 : 11}}}),
        },
        plugins: {strips: {state}, tooltip: {enabled: false}},
      },
    }),
  });
  addCellSelection(figure, state);
  return figure;
}

function clientsTable(name, run) {
  const rate = (per_s) => ({text: clientsRate(run, per_s), value: per_s ?? undefined});
  const client = (what, {rank, host, per_s}) => [{text: [`${what} client: ${rank} on `, named(host)]}, rate(per_s)];
  return table(`${counted(run.count, 'client', 'clients')} on ${counted(run.hosts, 'host', 'hosts')}, ${name}`,
      ['', 'figure'], [
        ['Until the last client ended', rate(run.per_s)],
        ['Until the first client ended', rate(run.first_ended_per_s)],
        client('Slowest', run.slowest),
        client('Fastest', run.fastest),
        ["Jain's fairness index", {text: share(run.jain), value: run.jain}],
        ['Start skew', {text: exactMicroseconds(run.start_skew_us), value: run.start_skew_us}],
        ['Error of the clocks, at most', {text: exactMicroseconds(run.clock_error_us), value: run.clock_error_us}],
      ]);
}

// Nothing for a single client.
function clientsOf(one) {
  if (!one.clients) return null;
  return ofRepetition('Clients of', one.clients, (name, run) => {
    const figure = clientStrips(name, run);
    const both = element('div', {class: 'beside'}, figure, clientsTable(name, run));
    both.draw = figure.draw;
    return both;
  });
}
