const WAITS = [
  /(?<=\bATTENTION_AFTER_MS = )ATTENTION_AFTER_MIN \* 60_?000(?=;)/,
  /(?<=\bASK_AFTER_MS = )15 \* 60_?000(?=;)/,
];

/** The workflows as they are, but that a person is told sooner: a real server lets nobody skip a quarter of an hour. */
export const impatientBundle = (code: string, attentionAfterMs: number): string =>
  WAITS.reduce((changed, wait) => {
    const [before, after, ...more] = changed.split(wait);
    if (after === undefined || more.length > 0) throw new Error(`${wait} is not once in the bundle`);
    return `${before}${attentionAfterMs}${after}`;
  }, code);
