/** Something is not known to be on the disk. `code`: the system's, such as ENOSPC; its words would name paths. */
export class NotWrittenError extends Error {
  override readonly name: string = 'NotWrittenError';

  constructor(
    what: string,
    variable: string,
    readonly code: string,
  ) {
    super(`${what} cannot be written (${code}): see to ${variable} of this worker`);
  }
}

/** The system's code of an error; 'failed' for an error without one. */
export function systemCodeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'failed';
}
