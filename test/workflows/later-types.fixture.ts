/** Workflow types that no released version has. */

/** A type with a name of its own. */
export async function refund(): Promise<string> {
  return 'paid back';
}

/** The next form of a type that is known. */
export const withdraw2 = refund;
