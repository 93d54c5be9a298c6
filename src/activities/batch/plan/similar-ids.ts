/** Zeros in front of a whole number, wherever it stands in an id. */
const LEADING_ZEROS = /(?<![\d.])0+(?=\d)/g;
/** What a spreadsheet adds to a number, or puts between its thousands. */
const ADDED = /(?<=\d)\.0+$|(?<=\d)\.(?=\d{3}(?!\d))/g;

/** Returns the one form of ids that differ only by case, leading zeros, an added `.0` or a point between thousands. */
export const looseForm = (id: string): string => id.toLowerCase().replace(ADDED, '').replace(LEADING_ZEROS, '');

/**
 * Returns the forms under which earlier orders of these ids most likely exist, without the ids:
 * one for an id, and a second one only where zeros may have been lost.
 */
export function likelyForms(ids: readonly string[]): string[] {
  const isNumber = (id: string) => /^\d+$/.test(id);
  const width = Math.max(...ids.map((id) => (isNumber(id) ? id.length : 0)));
  const otherCase = (id: string) => (id === id.toLowerCase() ? id.toUpperCase() : id.toLowerCase());
  const forms = ids.flatMap((id) => {
    const bare = id.replace(LEADING_ZEROS, '');
    return isNumber(id) ? [`${id}.0`, bare === id ? id.padStart(width, '0') : bare] : [otherCase(id), bare];
  });
  const given = new Set(ids);
  return [...new Set(forms)].filter((form) => !given.has(form));
}
