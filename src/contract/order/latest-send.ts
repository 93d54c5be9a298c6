/** Returns why an order is not sent after its `latestSend`; undefined up to then. */
export const whyTooLate = (latestSend: string, nowMs: number): string | undefined =>
  nowMs > Date.parse(latestSend) ? `its latest send time ${latestSend} is over` : undefined;
