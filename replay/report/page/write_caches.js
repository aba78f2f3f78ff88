// The write caches of drives: what they hold, and the rate over the bytes written.

function writeCacheChart(title, {course, levels}) {
  const rates = course.map(({y}) => y);
  const text = (rate) => `${number(rate)} MB/s`;
  return lineChart({
    title: `Rate over bytes written, ${title}`,
    xTitle: 'written',
    yTitle: 'MB/s',
    lines: [{name: 'measured', points: course}, {name: 'levels', points: levels}],
    text,
    xText: size,
    words: `Line chart: MB/s over bytes written, ${number(Math.min(...rates))} to ${number(Math.max(...rates))} MB/s.`,
    tableOf: () => table('Rate by bytes written', ['written', 'MB/s'],
        course.map(({x, y}) => [size(x), {text: number(y), value: y}])),
  });
}

function showWriteCaches(data) {
  const found = data.results.flatMap(({name, write_caches: list}) => list.map((one) => ({name, one})));
  if (found.length === 0) return;
  const part = section('Write cache');
  for (const {name, one} of found) {
    const title = data.results.length > 1 ? `${name}: ${one.subject}` : one.subject;
    const charts = element('div', {class: 'wide'});
    part.append(element('h3', {}, named(title)), element('p', {}, `${one.finding}.`));
    if (one.rows.length > 0) part.append(table('Write cache', ['', 'figure', '95 % interval'], one.rows));
    for (const note of one.notes) part.append(element('p', {class: 'hint'}, `${note}.`));
    part.append(charts);
    if (one.course.length > 1) place(charts, [writeCacheChart(title, one)]);
  }
}
