/** A workflow bundle in which one patch is always, or never, taken, whatever a history says. Throws where it asks for none. */
export function forcedBundle(code: string, patch: string, taken: boolean): string {
  const [before, asked, after, ...more] = code.split(/(\(0, ?[\w.]+\.patched\)\(id\))/);
  if (asked === undefined || more.length > 0)
    throw new Error('isPatched is not in the bundle as workflows/patches.ts has it');
  return `${before}(id === ${JSON.stringify(patch)} ? (${asked}, ${taken}) : ${asked})${after}`;
}
