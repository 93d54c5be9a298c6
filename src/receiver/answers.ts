import { STATUS_CODES } from 'node:http';

/** HTTP answer to a request. The service delivers again after everything but 200 and 201. */
export interface CallbackAnswer {
  status: number;
  body: { result: string };
  retryAfterSeconds?: number;
}

const ACCEPTED: CallbackAnswer = { status: 200, body: { result: 'accepted' } };

/**
 * All answers. A callback is acknowledged only once Temporal holds it: as a signal, or as a look-up
 * of an order that has ended or is unknown. Without a token of ours it is `notFound`, HTTP or not.
 */
export const ANSWERS = {
  delivered: ACCEPTED,
  closed: ACCEPTED,
  unknown: ACCEPTED,
  healthy: { status: 200, body: { result: 'ok' } },
  notFound: { status: 404, body: { result: 'not found' } },
  malformed: { status: 400, body: { result: 'malformed body' } },
  tooLarge: { status: 413, body: { result: 'body too large' } },
  limited: { status: 429, body: { result: 'too many callbacks for this order' }, retryAfterSeconds: 600 },
  crowded: { status: 429, body: { result: 'too many new orders on this address' }, retryAfterSeconds: 60 },
  unavailable: { status: 503, body: { result: 'try again' }, retryAfterSeconds: 5 },
} satisfies Record<string, CallbackAnswer>;

/** Name of an answer. */
export type AnswerName = keyof typeof ANSWERS;

/** The headers of an answer and its body as text: the same ones in the same order, whoever writes them. */
export function wireOf({ status, body, retryAfterSeconds }: CallbackAnswer) {
  const text = JSON.stringify(body);
  const headers: Record<string, string | number> = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...(retryAfterSeconds && { 'Retry-After': retryAfterSeconds }),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  return { status, headers, text };
}

/** An answer as bytes, for what the HTTP library could not read. */
export function rawAnswer(answer: CallbackAnswer): string {
  const { status, headers, text } = wireOf(answer);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
