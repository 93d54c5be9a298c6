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
