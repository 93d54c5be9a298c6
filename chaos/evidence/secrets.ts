import { createReadStream } from 'node:fs';
import type { Leak } from './evidence.js';
import { formsOf } from './forms.js';
import { Needles } from './needles.js';
import { clearPlaceOf, FOR_PEOPLE, textsOf } from './texts.js';

const CHUNK_BYTES = 8 * 1024 * 1024;

/** A value that has to be looked for. */
export interface Hidden {
  /** What it is, in words that may be shown. */
  kind: string;
  /** Whose it is; undefined = the installation's. */
  orderId?: string;
  value: string | Buffer;
  /** A credential may be nowhere; personal data may be where orders are kept in the clear. */
  sort: 'credential' | 'personal';
  /** The command line shows it to people, who need it: where a client pays, who decided. */
  shown?: boolean;
  /** The audit record says who chose what and why. */
  audited?: boolean;
}

/** What a place may hold: `orders` in the clear, with all that is personal in them; what is `shown` to people or `audited`; or nothing. */
export type Allowed = 'orders' | 'shown' | 'audited' | 'nothing';

const MAY_HOLD: Readonly<Record<Allowed, (hidden: Hidden) => boolean>> = {
  orders: ({ sort }) => sort === 'personal',
  shown: ({ shown = false }) => shown,
  audited: ({ audited = false }) => audited,
  nothing: () => false,
};

interface Found {
  hidden: Hidden;
  form: string;
}

/** Finds secrets and personal data in any form, without ever repeating them. */
export class SecretScanner {
  readonly #needles = new Needles<Found>();
  /** Bytes that were looked at. */
  searched = 0;

  constructor(hidden: Iterable<Hidden>) {
    for (const each of hidden) {
      for (const { form, bytes } of formsOf(each.value)) this.#needles.add(bytes, { hidden: each, form });
    }
  }

  /** In how many forms all values are looked for. */
  get forms(): number {
    return this.#needles.count;
  }

  /** Everything that is in the bytes, in whatever form. */
  foundIn(bytes: Buffer): Found[] {
    this.searched += bytes.length;
    return [...this.#needles.foundIn(bytes)];
  }

  /** Leaks of a place whose bytes are at hand. */
  leaksOf(place: string, bytes: Buffer, allowed: Allowed): Leak[] {
    return leaksAmong(place, this.foundIn(bytes), allowed);
  }

  /** Leaks of what a history shows in clear, whatever is encrypted. */
  leaksInClear(workflowId: string, history: unknown): Leak[] {
    const texts = textsOf(history).flatMap((text) => {
      const place = clearPlaceOf(text);
      return place ? [{ place, text: text.text }] : [];
    });
    return [...texts, { place: 'a workflow id', text: workflowId }].flatMap(({ place, text }) =>
      this.leaksOf(`${place} of ${workflowId}`, Buffer.from(text), place === FOR_PEOPLE ? 'shown' : 'nothing'),
    );
  }

  /** All that is in a file, read piece by piece. A database that runs removes files: what is gone holds nothing. */
  async foundInFile(file: string): Promise<Found[]> {
    const found = new Set<Found>();
    let rest = Buffer.alloc(0);
    try {
      for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
        const bytes = Buffer.concat([rest, chunk as Buffer]);
        for (const each of this.foundIn(bytes)) found.add(each);
        rest = bytes.subarray(-this.#needles.longest);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return [...found];
  }
}

/** Those of the finds that must not be in a place; a value is told once, whatever the number of its forms. */
export function leaksAmong(place: string, found: readonly Found[], allowed: Allowed): Leak[] {
  const leaks = found.filter(({ hidden }) => !MAY_HOLD[allowed](hidden));
  const byValue = new Map<Hidden, string>();
  for (const { hidden, form } of leaks) if (form === 'plain' || !byValue.has(hidden)) byValue.set(hidden, form);
  return [...byValue].map(([{ kind, orderId }, form]) => ({
    place,
    what: `${kind}${orderId === undefined ? '' : ` of ${orderId}`}${form === 'plain' ? '' : ` (${form})`}`,
  }));
}
