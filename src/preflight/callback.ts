import type { Finding, Target } from './findings.js';

const ANSWER_WITHIN_MS = 4_000;

/** Whether anything answers where the service is told to call back. Orders are polled anyway, so that it is no error. */
export async function callbackFindings({ config: { callback } }: Target): Promise<readonly Finding[]> {
  if (!callback) return [];
  const why = await whyNot(`${callback.baseUrl}/healthz`);
  if (why === undefined) return [];
  const text = `CALLBACK_BASE_URL cannot be reached from here (${why}): orders are polled, which takes longer. Is the receiver running behind it?`;
  return [{ check: 'callback', level: 'warning', text }];
}

/** Any answer will do but that of a proxy which finds nobody behind it. */
async function whyNot(url: string): Promise<string | undefined> {
  try {
    const { status } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return status >= 500 ? `HTTP ${status}` : undefined;
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: unknown } };
    return typeof cause?.code === 'string' ? cause.code : name;
  }
}
