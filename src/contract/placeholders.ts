/* What a person has to say in their own words stands in angle brackets where a request is shown ready to be sent. */

/** In the place of a person's name. */
export const YOUR_NAME = '<your name>';

/** In the place of their reason. */
export const WHY = '<why>';

/** In the place of what the service calls an order. */
export const ITS_UUID = '<its order_uuid>';

/** Returns true for a text that nobody filled in: who did what, and why, goes into results and the audit record. */
export const isPlaceholder = (text: string): boolean => /^\s*<[^<>]*>\s*$/.test(text);
