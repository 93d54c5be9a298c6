import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { applyMutant } from '../../scripts/mutants/mutant.js';
import { MUTANTS } from '../../scripts/mutants/table.js';

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');

describe('every mutant', () => {
  test.for(MUTANTS)('$name: still finds its text, and changes it', (mutant) => {
    const source = read(mutant.file);
    const mutated = applyMutant(mutant, source);
    expect(mutated).toContain(mutant.replacement);
    expect(mutated).not.toContain(mutant.find);
  });

  test.for(MUTANTS)('$name: names a test that its file has', ({ test: { file, name } }) => {
    // The title may be built from a table: its last words are in the file in any case.
    expect(read(file)).toContain(name.split(' ').slice(-3).join(' '));
  });

  test('whose text is gone or no longer the only one is refused by name', () => {
    const [mutant] = MUTANTS;
    if (!mutant) throw new Error('no mutants');
    expect(() => applyMutant(mutant, 'something else')).toThrow(`"${mutant.name}": its text occurs 0 times`);
    expect(() => applyMutant(mutant, mutant.find.repeat(2))).toThrow('2 times');
  });
});
