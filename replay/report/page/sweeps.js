// Curves of sweeps: the last axis goes across, the one before makes the lines, the others are chosen.

function showSweeps(data) {
  const all = data.results.flatMap((result) => result.sweeps.map((sweep) => ({sweep, result})));
  const usable = all.filter(({sweep}) => Object.keys(sweep.figures).length > 0);
  if (usable.length === 0) return;
  const part = section('Sweeps');
  const labels = usable.map(({sweep, result}, i) => [String(i), [
    data.results.length > 1 ? result.name : '', sweep.workload === sweep.operation ? '' : sweep.workload,
    sweep.operation, sweep.file_system].filter(Boolean).join(', ')]);
  const controls = element('div', {class: 'controls'});
  const inner = element('div', {class: 'controls'});
  const charts = element('div');
  if (usable.length > 1) {
    controls.append(selection('Sweep', labels, (value) => choose(Number(value))));
  }
  part.append(controls, inner, charts);

  function choose(index) {
    const {sweep} = usable[index];
    const figures = Object.keys(FIGURES).filter((figure) => sweep.figures[figure]);
    const outer = sweep.axes.slice(0, -2);
    const state = {figure: figures[0], outer: outer.map(() => 0)};
    inner.replaceChildren(segments('Figure', figures.map((one) => [one, FIGURES[one].title]),
        state.figure, (figure) => { state.figure = figure; draw(); }));
    outer.forEach((one, i) => inner.append(selection(one.name,
        one.values.map((value, v) => [String(v), value]),
        (value) => { state.outer[i] = Number(value); draw(); })));

    function draw() {
      const across = sweep.axes[sweep.axes.length - 1];
      const down = sweep.axes.length > 1 ? sweep.axes[sweep.axes.length - 2] : {name: '', values: ['']};
      let first = 0;
      outer.forEach((one, i) => { first = first * one.values.length + state.outer[i]; });
      first *= down.values.length * across.values.length;
      const at = (row, column) => sweep.figures[state.figure][first + row * across.values.length + column];
      const names = down.values.map((value) => `${down.name} ${value}`.trim() || sweep.operation);
      const where = outer.map((one, i) => `, ${one.name} ${one.values[state.outer[i]]}`).join('');
      const title = `${labels[index][1]}${where}: ${FIGURES[state.figure].title}`;
      place(charts, [lineChart({
        title,
        xTitle: across.name,
        yTitle: FIGURES[state.figure].unit,
        xLabels: across.values,
        text: (value) => figureText(state.figure, value),
        lines: down.values.map((value, row) => ({
          name: names[row],
          points: across.values.map((_, column) => { const one = at(row, column); return one ? one.median : null; }),
        })),
        words: `Line chart: ${title}. ` + down.values.map((value, row) => `${names[row]}: ` +
            across.values.map((x, column) => {
              const one = at(row, column);
              return `${across.name} ${x} ${one ? figureText(state.figure, one.median) : 'not measured'}`;
            }).join(', ')).join('; ') + '.',
        tableOf: () => table(title, [`${down.name} \\ ${across.name}`, ...across.values],
            down.values.map((value, row) => [value || sweep.operation,
              ...across.values.map((_, column) => spreadCell(state.figure, at(row, column)))])),
      })]);
    }
    draw();
  }
  choose(0);
}
