import { expect, test } from 'vitest';
import { chart } from '../../bench/report/svg.js';
import type { Row, Table } from '../../bench/table.js';

const table = (rows: Table['rows']): Table => ({
  id: 'any',
  title: 'orders & "others"',
  figures: [
    { id: 'rate', title: 'rate <fast>', unit: 'ms', drawn: true },
    { id: 'hidden', title: 'not drawn' },
  ],
  rows,
});

const widthsOf = (svg: string): number[] =>
  [...svg.matchAll(/<rect[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width));

test('a chart has a bar for each row, as long as its median, with its label and a whisker from the smallest to the largest', () => {
  const svg = chart(
    table([
      { name: 'floor', rounds: [{ rate: 10 }, { rate: 20 }, { rate: 40 }] },
      { name: 'ours', rounds: [{ rate: 5 }, { rate: 10 }, { rate: 20 }] },
    ]),
  );
  const [floor = 0, ours = 0] = widthsOf(svg);
  expect(floor / ours).toBeCloseTo(2);
  expect(svg.match(/<line /g)).toHaveLength(2);
  const [, from, to] = /<line class="w" x1="([\d.]+)" x2="([\d.]+)"/.exec(svg) ?? [];
  expect(Number(to) - Number(from)).toBeCloseTo(1.5 * floor);
  for (const label of ['>floor<', '>ours<', '>20.0<', '>10.0<']) expect(svg).toContain(label);
  expect(svg).not.toContain('not drawn');
});

test('labels are escaped', () => {
  const svg = chart(table([{ name: '<b> & \'c\' "d"', rounds: [{ rate: 1 }] }]));
  expect(svg).toContain('&#60;b&#62; &#38; &#39;c&#39; &#34;d&#34;');
  expect(svg).toContain('rate &#60;fast&#62;, ms');
  expect(svg).not.toContain('<b>');
});

test('what was not measured, and nothing but zeros, makes no NaN', () => {
  const unknown: Row[] = [
    { name: 'dead', rounds: [] },
    { name: 'half', rounds: [{ rate: Number.NaN }, {}] },
  ];
  for (const rows of [unknown, [], [{ name: 'nothing', rounds: [{ rate: 0 }, { rate: 0 }] }]]) {
    expect(chart(table(rows))).not.toMatch(/NaN|Infinity|undefined|e[-+]\d/);
  }
});

test('one round has no whisker', () => {
  expect(chart(table([{ name: 'once', rounds: [{ rate: 3 }] }]))).not.toContain('<line');
});
