// Bars of every figure: a chart for each operation (or workload), rows of file sets (or phases), and
// bars of file systems, or of results where there are several.

function barGroups(data) {
  const groups = new Map();
  data.results.forEach((result, index) => {
    for (const one of result.measurements) {
      if (one.swept) continue;
      if (!groups.has(one.group)) groups.set(one.group, []);
      groups.get(one.group).push({...one, result: index});
    }
  });
  return groups;
}

function showSpeeds(data) {
  const groups = barGroups(data);
  if (groups.size === 0) return;
  const everything = [...groups.values()].flat();
  const several = data.results.length > 1;
  const fileSystems = unique(everything.map((one) => one.file_system));
  const figures = Object.keys(FIGURES).filter(
      (figure) => everything.some((one) => one.figures[figure]));
  if (figures.length === 0) return;
  const state = {figure: figures[0], fileSystem: fileSystems[0]};
  const names = several ? data.results.map((one) => one.name) : fileSystems;
  const seriesOf = (one) => several ? one.result : fileSystems.indexOf(one.file_system);

  const part = section('Speed');
  const controls = element('div', {class: 'controls'});
  const charts = element('div', {class: 'grid'});
  const legends = element('div');
  controls.append(segments('Figure', figures.map((one) => [one, FIGURES[one].title]), state.figure,
      (figure) => { state.figure = figure; draw(); }));
  if (several && fileSystems.length > 1) {
    controls.append(segments('File system', fileSystems.map((one) => [one, one]), state.fileSystem,
        (fileSystem) => { state.fileSystem = fileSystem; draw(); }));
  }
  part.append(controls, legends, charts);

  function draw() {
    const figuresNow = [];
    let sure = false, extremes = false;
    for (const [group, all] of groups) {
      const list = all.filter((one) => !several || one.file_system === state.fileSystem);
      // Operations without the figure, such as MB/s of deleting, show what they have.
      const figure = list.some((one) => one.figures[state.figure])
          ? state.figure : figures.find((other) => list.some((one) => one.figures[other]));
      if (!figure) continue;
      const categories = unique(list.map((one) => one.category));
      const find = (series, category) =>
          list.find((one) => seriesOf(one) === series && one.category === category);
      const spreads = names.map((name, s) => categories.map((category) => {
        const one = find(s, category);
        return (one && one.figures[figure]) || null;
      }));
      const notes = names.map((name, s) => categories.map((category) => {
        const one = find(s, category);
        return one && one.samples.some((sample) => sample.moved_no_data) ? 'no data moved' : '';
      }));
      for (const spread of spreads.flat().filter(Boolean)) {
        const range = rangeOf(spread);
        if (range) range.sure ? sure = true : extremes = true;
      }
      const where = several && fileSystems.length > 1 ? `, ${state.fileSystem}` : '';
      figuresNow.push(barChart({title: `${group}${where}: ${FIGURES[figure].unit}`, figure, categories,
                                names, spreads, notes}));
    }
    legends.replaceChildren(legend(names), whiskerNote(sure, extremes));
    place(charts, figuresNow);
  }
  draw();
}

function whiskerNote(sure, extremes) {
  const parts = [];
  if (sure) parts.push('Solid whiskers: the median lies there with 95 % confidence.');
  if (extremes) parts.push('Dashed whiskers: lowest and highest, as there are too few samples for an interval.');
  return element('p', {class: 'hint'}, 'Bars are medians; longer is faster. ' + parts.join(' '));
}

const VERDICT_SIGNS = {slower: '▼', faster: '▲', same: '=', 'cannot tell': '?'};

// The decisions of `filereel compare`.
function showComparison(data) {
  const comparison = data.comparison;
  if (!comparison) return;
  const part = section('Comparison');
  part.append(element('p', {}, 'Against ', named(comparison.base), ', ', named(comparison.fresh), ' is: ',
      element('strong', {class: `verdict-${comparison.overall}`}, comparison.overall), '. ',
      'A change below ', share(comparison.threshold), ' of the time counts as none; time, tail and stalls are judged. The probability of any false alarm in this table is at most ',
      share(comparison.false_alarms), '.'));
  for (const one of comparison.warnings) {
    part.append(element('p', {class: 'banner'}, named(one.text), '. ', named(one.next_step)));
  }
  if (comparison.changes.length) {
    part.append(table('What else is different, so that it may be the cause',
        ['', comparison.base, comparison.fresh],
        comparison.changes.map((one) => [named(one.what), named(one.base), named(one.fresh)]),
        {left: [1, 2]}));
  }
  part.append(table('Time for the same work: above 1 is slower', ['measurement', 'verdict', 'ratio', 'p (Holm)',
                    'before', 'after', 'samples', 'tail', 'stalls'],
      comparison.measurements.map((one) => [
        named(one.key),
        {text: `${VERDICT_SIGNS[one.verdict] || ''} ${one.verdict_text}`, class: `verdict-${one.verdict}`},
        one.ratio === undefined ? '–' : {
          text: one.ratio.toFixed(3), value: one.ratio,
          range: one.ratio_interval && `(${one.ratio_interval.map((x) => x.toFixed(3)).join('–')})`,
        },
        one.p_holm === undefined ? '–' : {text: one.p_holm < 0.001 ? '< 0.001' : one.p_holm.toFixed(3), value: one.p_holm},
        {text: seconds(one.base), value: one.base},
        {text: seconds(one.fresh), value: one.fresh},
        `${one.base_samples}, ${one.fresh_samples}`,
        one.tail === undefined ? '–' : {text: one.tail.toFixed(2), value: one.tail},
        one.stalls ? {text: one.stalls.map(whole).join(' → '), value: one.stalls[1]} : '–',
      ])));
  const changed = comparison.measurements.filter((one) => one.evidence);
  if (changed.length) {
    part.append(element('ul', {class: 'findings'}, changed.map(
        (one) => element('li', {}, named(one.key), ': ', one.verdict_text, ', ', one.evidence))));
  }
  const unclear = comparison.measurements.filter((one) => one.reason);
  if (unclear.length) {
    part.append(element('ul', {class: 'findings'}, unclear.map(
        (one) => element('li', {}, named(one.key), ': ', one.reason))));
  }
  const alone = [...comparison.only_base.map((key) => [key, comparison.base]),
                 ...comparison.only_fresh.map((key) => [key, comparison.fresh])];
  if (alone.length) {
    part.append(unfolding('Measured on one side only', () => element('ul', {}, alone.map(
        ([key, side]) => element('li', {}, named(key), ' (', named(side), ')')))));
  }
}
