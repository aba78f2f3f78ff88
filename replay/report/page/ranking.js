// What a ranking of several drives or file systems proves, as in `filereel compare`.

function showRanking(data) {
  const ranking = data.ranking;
  if (!ranking || ranking.measurements.length === 0) return;
  const part = section('What is proven');
  addWarnings(part, ranking);
  const proven = ranking.measurements.filter((one) => one.proven), others = ranking.measurements.filter((one) => !one.proven);
  const list = (measurements) => element('ul', {class: 'findings'}, measurements.map(
      (one) => element('li', {}, element('strong', {}, named(one.key)), `, ${one.figure}: `, named(one.conclusion))));
  part.append(proven.length ? list(proven) : element('p', {}, 'No difference is proven.'));
  if (proven.length) {
    part.append(table('Ranks by time, 1 is the fastest', ['', ...ranking.names.map(named)],
        proven.map((one) => [wholeWords(one.key), ...one.ranks.map((rank) => rank || '–')])));
  }
  if (others.length) {
    const open = others.length < 4;
    const title = `Not proven: ${counted(others.length, 'measurement', 'measurements')}`;
    part.append(open ? list(others) : collapsible(title, () => list(others)));
  }
  part.append(element('p', {class: 'hint'}, named(sentence(ranking.promise))));
}
