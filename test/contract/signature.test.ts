import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textToSign } from '../../src/contract/signature.js';

const RUN = { namespace: 'payments', account: 'default', workflowId: 'order:default:o-1', runId: 'r-1' };

/** The same value with the keys of all objects the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  );
}

const choices = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));

describe('the text that is signed', () => {
  test('stands in docs/trust.md as it is', () => {
    const choice = { revision: 7, action: 'resend', by: 'Ann Smith', reason: 'proven absent' };
    expect(textToSign('decide', RUN, choice)).toBe(
      'payment-orders signature 1\n' +
        '{"choice":{"action":"resend","by":"Ann Smith","reason":"proven absent","revision":7},' +
        '"run":{"account":"default","namespace":"payments","runId":"r-1","workflowId":"order:default:o-1"},' +
        '"update":"decide"}',
    );
  });

  test('is one for one choice, in whatever order its fields come', () => {
    fc.assert(
      fc.property(choices, (choice) => {
        const text = textToSign('decide', RUN, choice);
        expect(textToSign('decide', RUN, reversed(choice) as object)).toBe(text);
        // What a person reads there is what was chosen.
        expect(JSON.parse(text.slice(text.indexOf('\n')))).toEqual({
          choice: JSON.parse(JSON.stringify(choice)),
          run: RUN,
          update: 'decide',
        });
      }),
    );
  });

  test('takes nothing but the four names of a run', () => {
    const more = { ...RUN, extra: 'x' };
    expect(textToSign('approve', more, {})).toBe(textToSign('approve', RUN, {}));
  });
});
