import type { ServerResponse } from 'node:http';

/** HTTP answer. The service delivers again after every status but 200 and 201. */
interface CallbackAnswer {
  status: number;
  result: string;
  retryAfterSeconds?: number;
}

const ACCEPTED = { status: 200, result: 'accepted' };

/** All answers. A callback is acknowledged only after Temporal has stored it. */
export const ANSWERS = {
  delivered: ACCEPTED,
  closed: ACCEPTED,
  unknown: ACCEPTED,
  healthy: { status: 200, result: 'ok' },
  notFound: { status: 404, result: 'not found' },
  malformed: { status: 400, result: 'malformed body' },
  tooLarge: { status: 413, result: 'body too large' },
  limited: { status: 429, result: 'too many callbacks for this order', retryAfterSeconds: 600 },
  crowded: { status: 429, result: 'too many new orders on this address', retryAfterSeconds: 60 },
  unavailable: { status: 503, result: 'try again', retryAfterSeconds: 5 },
} satisfies Record<string, CallbackAnswer>;

/** Name of an answer. */
export type AnswerName = keyof typeof ANSWERS;

/** Writes an answer. */
export function send(response: ServerResponse, name: AnswerName): void {
  const { status, result, retryAfterSeconds }: CallbackAnswer = ANSWERS[name];
  const text = JSON.stringify({ result });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...(retryAfterSeconds && { 'Retry-After': retryAfterSeconds }),
  };
  response.writeHead(status, headers).end(text);
}
