/** A failure in words, with all that sets it apart, down to its first cause. Times and ids of runs are left out. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return `not an error: ${JSON.stringify(error)}`;
  const { name, message, cause, code, details, ...given } = error as Error & { code?: number; details?: unknown };
  const { type, retryState, timeoutType, activityId, lastHeartbeatDetails, nonRetryable, workflowId } = given as Record<
    string,
    unknown
  >;
  const known = {
    type,
    retryState,
    timeoutType,
    activityId,
    lastHeartbeatDetails,
    nonRetryable,
    workflowId,
    code,
    details,
  };
  const about = Object.entries(known)
    .filter(([, value]) => value !== undefined && value !== null && value !== false && String(value) !== '')
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const text = `${name}(${[withoutIds(message), ...about].join(', ')})`;
  return withoutIds(cause ? `${text} < ${textOf(cause)}` : text);
}

/** The text with all ids of runs alike. */
export const withoutIds = (text: string): string =>
  text.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<run>').replace(/\btest-<run>/g, 'default');

/** How something ended, in words. */
export const ended = (what: Promise<unknown>): Promise<unknown> =>
  what.then(
    (value) => ({ value }),
    (error) => ({ error: textOf(error) }),
  );
