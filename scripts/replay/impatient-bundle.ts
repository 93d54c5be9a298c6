/** The workflows as they are, but that a person is told sooner: a real server lets nobody skip a quarter of an hour. */
export function impatientBundle(code: string, attentionAfterMs: number): string {
  const [before, after, ...more] = code.split(/(?<=\bATTENTION_AFTER_MS = )ATTENTION_AFTER_MIN \* 60_?000(?=;)/);
  if (after === undefined || more.length > 0) throw new Error('ATTENTION_AFTER_MS is not where it was in the bundle');
  return `${before}${attentionAfterMs}${after}`;
}
