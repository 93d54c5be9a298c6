import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../chaos/evidence/evidence.js';
import type { BookLine } from '../src/contract/books/book.js';
import { decimal, toAmount } from '../src/contract/money.js';
import { serviceTime } from '../src/contract/reconcile/input.js';

type Balances = Readonly<Record<string, string>>;

/** A book ends this long before its export: the service's times have whole seconds. */
const SETTLED_MS = 5_000;

/** Books of one account that follow each other without a gap, as the API exports them. */
export class Books {
  readonly findings: Finding[] = [];
  readonly #totals = new Map<string, string>();
  #fromMs: number;
  count = 0;

  constructor(
    private readonly apiUrl: string,
    private readonly folder: string,
    /** Balances of the account when the books begin. */
    private readonly opening: Balances,
  ) {
    this.#fromMs = Date.now() - 1_000;
  }

  /** Exports the time since the last book. */
  async export(): Promise<void> {
    await this.#export(Math.floor((Date.now() - SETTLED_MS) / 1_000) * 1_000);
  }

  /** Exports the rest until now; compares all books with the service's ledger to the last digit. */
  async close(closing: Balances): Promise<void> {
    await this.#export();
    for (const currency of new Set([...this.#totals.keys(), ...Object.keys(closing)])) {
      const booked = decimal(this.opening[currency] ?? '0').plus(decimal(this.#totals.get(currency) ?? '0'));
      const difference = decimal(closing[currency] ?? '0').minus(booked);
      if (!difference.eq(0)) this.#find(`${currency}: the ledger is off by ${toAmount(difference)} against the books`);
    }
  }

  async #export(toMs?: number): Promise<void> {
    const period = { from: serviceTime(this.#fromMs), ...(toMs !== undefined && { to: serviceTime(toMs) }) };
    const response = await fetch(`${this.apiUrl}/v1/books?${new URLSearchParams({ ...period, format: 'ndjson' })}`);
    const text = await response.text();
    // The next one has the time of this one, too.
    if (!response.ok) return this.#find(`no book from ${period.from} on: ${text}`);
    this.count += 1;
    await mkdir(this.folder, { recursive: true });
    await writeFile(join(this.folder, `book-${this.count}.ndjson`), text);
    const lines = text.split('\n').filter(Boolean);
    for (const line of lines.map((each) => JSON.parse(each) as BookLine)) this.#add(line, period.from);
    if (!lines.at(-1)?.startsWith('{"kind":"end"')) this.#find(`the book from ${period.from} on has no end`);
    this.#fromMs = toMs ?? Date.now();
  }

  #add(line: BookLine, from: string): void {
    if (line.kind === 'missing') this.#find(`the book from ${from} on: ${line.order_id ?? 'an entry'} ${line.reason}`);
    if (line.kind !== 'sum') return;
    const { currency, total, difference } = line;
    this.#totals.set(currency, toAmount(decimal(this.#totals.get(currency) ?? '0').plus(decimal(total))));
    if (difference !== '0') this.#find(`the book from ${from} on is off by ${difference} ${currency}`);
  }

  #find(text: string): void {
    this.findings.push({ text });
  }
}
