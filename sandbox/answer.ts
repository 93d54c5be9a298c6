/** How an answer leaves: whole, or broken in one of the ways networks and servers break. */
export type Delivery =
  | 'whole'
  | 'truncated'
  | 'cut'
  | 'none'
  | 'reset'
  | 'oversized'
  | 'endless'
  | 'gzip-bomb'
  | 'drip';

/** What the service answers. Objects are sent as JSON, strings as they are. */
export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  delivery?: Delivery;
  /** Waits this long before answering. */
  delayMs?: number;
  /** Name of the fault that was met, for the log. */
  fault?: string;
  /** Indexes (from 0) of list items that cannot be read, for the log. */
  malformed?: number[];
}

/** A documented success: `{status: 'success', data}`. */
export const success = (data: unknown): Answer => ({ status: 200, body: { status: 'success', data } });

/** A refusal. The interface does not show its shape; this one names fields and never repeats values. */
export const refusal = (status: number, message: string, errors: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  body: { status: 'error', message, errors },
});

/** An object that can be looked into. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Changes every order object in a success answer, one or a list. Other answers pass unchanged. */
export function mapOrders(answer: Answer, change: (order: Record<string, unknown>) => unknown): Answer {
  if (!isObject(answer.body)) return answer;
  const { data } = answer.body;
  const changed = Array.isArray(data)
    ? data.map((item) => (isObject(item) ? change(item) : item))
    : isObject(data) && 'order_uuid' in data
      ? change(data)
      : data;
  return { ...answer, body: { ...answer.body, data: changed } };
}

/** Changes the items at some indexes (from 0) of a list answer; those it does not have are left out. */
export function changeItems(
  answer: Answer,
  indexes: readonly number[],
  change: (item: Record<string, unknown>) => unknown,
): Answer {
  if (!isObject(answer.body) || !Array.isArray(answer.body.data)) return answer;
  const { data }: { data?: unknown[] } = answer.body;
  const malformed = indexes.filter((index) => isObject(data?.[index]));
  const changed = data?.map((item, index) => (malformed.includes(index) && isObject(item) ? change(item) : item));
  return { ...answer, body: { ...answer.body, data: changed }, malformed };
}
