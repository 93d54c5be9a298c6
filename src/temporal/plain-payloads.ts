/** One plain order is read many times, and one backend without keys starts many. */
const WARN_INTERVAL_MS = 60_000;

/** Names no content: the payload itself is what must not be repeated. */
const MESSAGE =
  'read a payload that is not encrypted, although PAYLOAD_ENCRYPTION_KEYS is set here: a process without it wrote it, or it ' +
  'is older than the keys. Set PAYLOAD_ENCRYPTION_KEYS in every backend, receiver, starter and worker. To see it: temporal ' +
  'workflow show --output json --workflow-id <the workflowId of this line>, without a codec endpoint; what can be read there ' +
  'is plain, and the identity beside it names the process that wrote it. Said once a minute at most';

/** Warns of plain payloads, at most once a minute, whatever the number of those in between. */
export function warnOfPlainPayloads(
  warn: (message: string, about: { workflowId?: string }) => void,
  nowMs: () => number = () => performance.now(),
): (workflowId?: string) => void {
  let silentUntilMs = Number.NEGATIVE_INFINITY;
  return (workflowId) => {
    const now = nowMs();
    if (now < silentUntilMs) return;
    silentUntilMs = now + WARN_INTERVAL_MS;
    warn(MESSAGE, { ...(workflowId && { workflowId }) });
  };
}
