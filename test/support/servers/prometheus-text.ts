/** A family as Prometheus would read it. */
export interface ReadFamily {
  name: string;
  help: string;
  type: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;

/**
 * Reads the text format of Prometheus and refuses whatever a scraper might: samples outside of their
 * family, a family or a series that comes twice, broken labels, counters and histograms that are none.
 */
export function readPrometheusText(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the text must end with a line break');
  const families = new Map<string, ReadFamily>();
  let current: ReadFamily | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (!NAME.test(name)) throw new Error(`no name: ${line}`);
      if (families.has(name)) throw new Error(`${name} comes twice`);
      current = { name, help: rest, type: '', samples: [] };
      families.set(name, current);
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.type) throw new Error(`not below its help: ${line}`);
      if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`no type: ${line}`);
      current.type = rest;
    } else {
      if (!current?.type) throw new Error(`a sample of no family: ${line}`);
      current.samples.push(readSample(line, current));
    }
  }
  for (const family of families.values()) judge(family);
  return families;
}

function readSample(line: string, { name, type }: ReadFamily): ReadFamily['samples'][number] {
  const [, own = '', inside = '', number = ''] = SAMPLE.exec(line) ?? [];
  const names =
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
  if (!names.includes(own)) throw new Error(`not a sample of ${name}: ${line}`);
  const value = number === '+Inf' ? Infinity : Number(number);
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`);
  return { name: own, labels: readLabels(inside, line), value };
}

function readLabels(inside: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < inside.length; at = LABEL.lastIndex) {
    const [, name = '', value = ''] = LABEL.exec(inside) ?? [];
    if (name === '' || name in labels) throw new Error(`broken labels: ${line}`);
    labels[name] = value;
  }
  return labels;
}

function judge({ name, type, samples }: ReadFamily): void {
  const ids = samples.map((one) => `${one.name} ${idOf(one.labels)}`);
  if (new Set(ids).size !== ids.length) throw new Error(`${name} has a series twice`);
  if (type === 'counter') {
    if (!name.endsWith('_total')) throw new Error(`the counter ${name} must end in _total`);
    if (samples.some(({ value }) => value < 0)) throw new Error(`${name} is below zero`);
  }
  if (type === 'histogram') judgeHistogram(name, samples);
}

function judgeHistogram(name: string, samples: ReadFamily['samples']): void {
  const groups = Map.groupBy(samples, ({ labels }) => idOf({ ...labels, le: '' }));
  for (const [labels, group] of groups) {
    const buckets = group.filter((one) => one.name === `${name}_bucket`);
    const edges = buckets.map(({ labels: { le } }) => (le === '+Inf' ? Infinity : Number(le)));
    const counts = buckets.map(({ value }) => value);
    const count = group.find((one) => one.name === `${name}_count`)?.value;
    const grows = (numbers: number[]) =>
      numbers.every((n, at) => at === 0 || n >= (numbers[at - 1] ?? 0));
    const whole = edges.at(-1) === Infinity && counts.at(-1) === count;
    if (!whole || !grows(edges) || !grows(counts) || group.length !== buckets.length + 2) {
      throw new Error(`${name}${labels} is no histogram`);
    }
  }
}

function idOf(labels: Record<string, string>): string {
  return Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${JSON.stringify(labels[name])}`)
    .join();
}
