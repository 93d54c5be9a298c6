/** Returns true for a loopback host, in brackets or not. */
export const isLoopback = (hostname: string): boolean => /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);

/** A path that every server and proxy interprets in the same way. */
const PLAIN_PATH = /^(\/[A-Za-z0-9._~-]+)*\/?$/;

/** Returns why a URL may not be used. Plain http is for loopback only: it would expose payments. */
export function urlProblem(text: string): string | undefined {
  // The parser drops blanks and line breaks silently, so they are found here.
  if (/[^\x21-\x7e]/.test(text) || !URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  // Checked in the text, because a parsed URL hides an empty query or fragment.
  if (/[?#]/.test(text)) return 'must not carry a query or fragment';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must be https (plain http is allowed to a loopback address only)';
  }
  if ((url.href === text || url.href === `${text}/`) && PLAIN_PATH.test(url.pathname)) return undefined;
  return 'must be written as it is used: a lower-case host, no usual port, and no %, \\, empty, . or .. parts in its path';
}

/** Returns a URL without trailing slashes. */
export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');
