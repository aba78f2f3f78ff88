// Indices: one figure per drive for many measurements.

FIGURES.relative = {title: 'relative', more: true, kind: '1/s', short: '', unit: ''};

function showIndexes(data) {
  const indexes = data.indexes.filter((one) => one.entries.length > 0);
  if (indexes.length === 0) return;
  const part = section('Index');
  part.append(element('p', {class: 'quiet'}, 'Whiskers are 95 % intervals, if there are enough runs for them.'));
  const charts = element('div', {class: 'grid'});
  const figures = indexes.map((index, i) => {
    const figure = `index ${i}`;
    // Relative values have no unit.
    const unit = index.unit || `${index.reference} = 100`, kind = {s: 's', 'µs': 'us', share: 'share'}[index.unit];
    FIGURES[figure] = {title: index.name, more: index.more_is_better, kind: kind || '1/s', short: unit, unit: kind ? '' : index.unit};
    const what = index.rate || unit, order = index.more_is_better ? 'more is better' : 'less is better';
    const relative = index.reference && index.unit ? `relative to ${index.reference} = 100` : '';
    const entries = [...index.entries]
        .sort((a, b) => index.more_is_better ? b.value - a.value : a.value - b.value);
    const spread = (one) => ({median: one.value, low: one.value, high: one.value, interval_95: one.interval_95});
    const of = `${index.plan ? `plan ${index.plan}, ` : ''}geometric mean ${index.contents}`;
    return barChart({
      title: `${index.name}, ${what}, ${order}: ${of}` +
          (index.left_out.length ? `, ${index.left_out.length} left out (missing, failed or different work on some)` : ''),
      figure,
      categories: entries.map((one) => one.name),
      names: [index.name],
      spreads: [entries.map(spread)],
      categoryStyles: entries.map((one) => one.series),
      tableOf: () => sortable(table(`${index.name}, ${what}, ${order}`,
              ['', `${unit} (${index.interval_name})`, ...(relative ? [`${relative} (${index.relative_interval_name})`] : [])],
          entries.map((one) => [named(one.name), spreadCell(figure, spread(one)),
            ...(relative ? [spreadCell('relative', {median: one.relative, low: one.relative, high: one.relative,
                                                    interval_95: one.relative_interval_95})] : [])])),
          [index.more_is_better, ...(relative ? [true] : [])]),
    });
  });
  part.append(charts);
  place(charts, figures);
  for (const index of indexes.filter((one) => one.patterns.length > 0)) {
    part.append(element('p', {class: 'hint'}, named(`${index.name}: measurements that match ${index.patterns.join(', ')}.`)));
  }
}
