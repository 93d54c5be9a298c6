import { createHmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PERSONAL_DATA } from '../inputs.js';
import type { Secrets } from '../stack.js';
import type { Leak } from './evidence.js';
import { clearPlaceOf, textsOf } from './texts.js';

/** Longer than any secret: so much of a chunk is looked at again with the next one. */
const OVERLAP_BYTES = 256;
const CHUNK_BYTES = 8 * 1024 * 1024;

/** Signatures are HMAC-SHA256 in hex. */
const SIGNATURE = /[0-9a-f]{64}/g;

/** Finds secrets and personal data in texts, without ever repeating them. */
export class SecretScanner {
  readonly #secrets: readonly (readonly [name: string, value: string])[];
  readonly #signatures: ReadonlySet<string>;

  /** Signatures are known for the requests whose bodies are: the look-ups of every order id and uuid. */
  constructor({ apiKeys, apiSecret, tokenKey }: Secrets, orderIds: Iterable<string>, orderUuids: Iterable<string>) {
    this.#secrets = [
      ...apiKeys.map((apiKey) => ['an API key', apiKey] as const),
      ['the API secret', apiSecret],
      ['CALLBACK_TOKEN_KEY', tokenKey],
    ];
    const bodies = [
      {},
      ...[...orderIds].flatMap((id) => [{ order_ids: [id] }, { order_id: id }]),
      ...[...orderUuids].map((uuid) => ({ order_uuid: uuid })),
    ];
    const sign = (body: object) => createHmac('sha256', apiSecret).update(JSON.stringify(body)).digest('hex');
    this.#signatures = new Set(bodies.map(sign));
  }

  /** Names of the secrets in a text. */
  secretsIn(text: string): string[] {
    const found = this.#secrets.filter(([, value]) => text.includes(value)).map(([name]) => name);
    const signed = (text.match(SIGNATURE) ?? []).some((hex) => this.#signatures.has(hex));
    return signed ? [...found, 'a signature'] : found;
  }

  /** Leaks of a whole history: secrets anywhere in it, personal data in what is shown in clear. */
  leaksOf(workflowId: string, history: unknown): Leak[] {
    const texts = textsOf(history);
    const inHistory = new Set(texts.flatMap(({ text }) => this.secretsIn(text)));
    const inClear = new Set(
      texts.flatMap((text) => {
        const place = clearPlaceOf(text);
        return place && hasPersonalData(text.text) ? [place] : [];
      }),
    );
    if (hasPersonalData(workflowId)) inClear.add('a workflow id');
    return [
      ...[...inHistory].map((what) => ({ place: `the history of ${workflowId}`, what })),
      ...[...inClear].map((place) => ({ place: `${place} of ${workflowId}`, what: 'personal data' })),
    ];
  }

  /** Leaks of a file, read piece by piece. A database holds orders, so personal data is looked for in logs only. */
  async leaksOfFile(file: string, kind: 'log' | 'database'): Promise<Leak[]> {
    const found = new Set<string>();
    let rest = '';
    for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES, encoding: 'latin1' })) {
      const text = rest + chunk;
      for (const what of this.secretsIn(text)) found.add(what);
      if (kind === 'log' && hasPersonalData(text)) found.add('personal data');
      rest = text.slice(-OVERLAP_BYTES);
    }
    return [...found].map((what) => ({ place: file, what }));
  }
}

const hasPersonalData = (text: string): boolean => PERSONAL_DATA.some((value) => text.includes(value));
