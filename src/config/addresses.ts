/** Returns true for a host, in brackets or not, that is this machine. */
export const isLoopback = (hostname: string): boolean => /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);

/** Without anything that a server or a proxy on the way may read in another way than we do. */
const PLAIN_PATH = /^(\/[A-Za-z0-9._~-]+)*\/?$/;

/** Why a URL may not be used, or undefined. Plain http would show payments to the network, so it is for loopback only. */
export function urlProblem(text: string): string | undefined {
  // The parser drops blanks and line breaks silently, so it cannot be the one to find them.
  if (/[^\x21-\x7e]/.test(text) || !URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  // Looked for in the text: an empty query or fragment is not to be seen in the parsed URL, but would swallow the path.
  if (/[?#]/.test(text)) return 'must not carry a query or fragment';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must be https (plain http is allowed to a loopback address only)';
  }
  if ((url.href === text || url.href === `${text}/`) && PLAIN_PATH.test(url.pathname)) return undefined;
  return 'must be written as it is used: a lower-case host, no usual port, and no %, \\, empty, . or .. parts in its path';
}

/** `url` without the slashes at its end. */
export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');
