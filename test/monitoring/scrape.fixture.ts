import { readFile } from 'node:fs/promises';

/** The series of Prometheus' text format: value by name with its labels in the order of the text. */
export function parsed(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** The series that a process shows. */
export async function scrape(url: string): Promise<Map<string, number>> {
  const answer = await fetch(`${url}/metrics`);
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`);
  return parsed(await answer.text());
}

/** The sum of the series of a name whose labels contain all of `labels`. */
export function sumOf(series: ReadonlyMap<string, number>, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return [...series]
    .filter(([key]) => key.split('{')[0] === name && wanted.every((each) => key.includes(each)))
    .reduce((sum, [, value]) => sum + value, 0);
}

const labelsOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(([, labels = '']) => labels.split(', '));

/** What the dashboard's panels and the alerts ask for, each as one text. */
async function askedFor(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile('deploy/monitoring/dashboard.json', 'utf8'));
  const rules = (await readFile('deploy/monitoring/alerts.yml', 'utf8')).split('- alert:').slice(1);
  return [
    ...panels.map(({ targets }: { targets: unknown }) => JSON.stringify(targets).replaceAll('\\"', '"')),
    ...rules,
  ];
}

/** Labels that panels and alerts ask for and that no series of the metric has: Prometheus would answer with nothing. */
export async function misnamed(series: ReadonlyMap<string, number>): Promise<string[]> {
  const wrong = new Set<string>();
  for (const text of await askedFor()) {
    const ofAll = labelsOf(text, /(?:\bby \(|\{\{ ?(?!end\b)(?:\$labels\.)?)(\w+(?:, \w+)*) ?(?:\)|\}\})/g);
    for (const [, name, matchers = ''] of text.matchAll(/\b((?:payment|temporal)_[a-z_]+)(?:\{([^}]*)\})?/g)) {
      const shown = [...series.keys()].filter((key) => key.split('{')[0] === name);
      for (const label of [...ofAll, ...labelsOf(matchers, /(\w+)=/g)]) {
        if (shown.length > 0 && !shown.some((key) => key.includes(`${label}="`))) wrong.add(`${name}: ${label}`);
      }
    }
  }
  return [...wrong];
}
