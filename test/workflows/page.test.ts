import { expect, test } from 'vitest';
import { page, pasteable } from '../../src/workflows/show.js';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const decision = pasteable(Array.from({ length: 30 }, (_, index) => ({ [`name${index}`]: 'x'.repeat(40) })));

test('a page ends with an empty line, because the UI cuts the last one', () => {
  expect(page(['first', 'last'])).toBe('first\n\nlast\n\n\u00a0');
});

test.for([
  ['plain', 'w'],
  ['of two bytes', 'ж'],
  ['of pairs', '💶'],
] as const)(
  'a page with too long a reason, %s: the reason is cut, the decision and the last line are not',
  ([, letter]) => {
    const cut = page(['never', `**Why**: ${letter.repeat(6_000)}`, decision, 'parked']);
    expect(bytesOf(cut)).toBeLessThanOrEqual(4_600);
    expect(cut).toContain(decision);
    expect(cut).toMatch(/…\n\n```json/);
    expect(cut).toMatch(/\n\nparked\n\n\u00a0$/);
    expect(() => encodeURIComponent(cut)).not.toThrow();
  },
);

test('a page whose decisions alone are too long keeps them', () => {
  const many = Array.from({ length: 9 }, () => decision);
  expect(page(['never', ...many])).toBe(['never', ...many, '\u00a0'].join('\n\n'));
});
