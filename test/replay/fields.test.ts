import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIELDS_FOLDER, fieldsIn, fieldsOfContract } from '../../scripts/replay/fields.js';

/** Names of a released version that the present one no longer knows. */
function lost(released: Record<string, string>, present: Record<string, string[]>): string[] {
  return Object.entries(released).flatMap(([type, names]) =>
    names
      .split(', ')
      .filter((name) => !present[type]?.includes(name))
      .map((name) => `${type}: ${name}`),
  );
}

// Workers of two versions share orders: what one of them answered, the other one's workflows read.
test('no field or literal that a released version wrote is renamed or removed', async () => {
  const present = await fieldsOfContract();
  const versions = await readdir(FIELDS_FOLDER);
  expect(versions).toContain('0.1.0.json');
  for (const file of versions) {
    const released = JSON.parse(await readFile(join(FIELDS_FOLDER, file), 'utf8'));
    expect(lost(released, present), file).toEqual([]);
  }
});

test('what matters of money is among them', async () => {
  const { CreateVerdict = [], Order = [], CreateOrderInput = [] } = await fieldsOfContract();
  expect(CreateVerdict).toEqual(expect.arrayContaining(['kind', 'uncertain', 'named', 'adopted']));
  expect([...Order, ...CreateOrderInput]).toEqual(expect.arrayContaining(['permission', 'provenIn']));
});

test('a renamed field, a removed literal and a removed type are seen', () => {
  const before = fieldsIn(
    "export interface Answer {\n  /** old: words */\n  kind: 'sent' | 'kept';\n  named?: Order;\n}\n",
  );
  expect(before).toEqual({ Answer: ['kept', 'kind', 'named', 'sent'] });
  const after = fieldsIn("export interface Answer {\n  kind: 'sent';\n  theOrder?: Order;\n}\n");
  const released = { Answer: before.Answer?.join(', ') ?? '' };
  expect(lost(released, after)).toEqual(['Answer: kept', 'Answer: named']);
  expect(lost(released, {})).toHaveLength(4);
});

test('types of unions over several lines end where the next declaration begins', () => {
  const source =
    "export type A =\n  | { kind: 'x'; one: string }\n  | { kind: 'y' };\n\nexport type B = { two: string };\nconst notOne = { three: 3 };\n";
  expect(fieldsIn(source)).toEqual({ A: ['kind', 'one', 'x', 'y'], B: ['two'] });
  expect(fieldsIn('export const result = z.object({\n  four: z.string(),\n});\n', 'shapes')).toEqual({
    result: ['four'],
  });
});
