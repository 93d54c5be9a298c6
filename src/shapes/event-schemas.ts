import * as z from 'zod';
import { EVENT_KINDS, EVENT_TEXTS, type OutgoingEvent } from '../contract/events.js';
import { optionSchemas } from '../validation/input-schemas.js';

const word = z.string().max(200);
const texts = Object.fromEntries(EVENT_TEXTS.map((field) => [field, word.optional()])) as Record<
  (typeof EVENT_TEXTS)[number],
  z.ZodOptional<typeof word>
>;

const { metadata } = optionSchemas;

/** Facts of an event. `sequence`: place among the events of one run; `metadata`: the caller's. */
export const eventData = z.strictObject({ account: word, sequence: z.int().min(1), metadata, ...texts });

/** One event, as a worker delivers it. No other text gets out. */
export const outgoingEvent = z.strictObject({
  id: z.string().regex(/^[\w.-]{1,100}$/),
  type: z.enum(EVENT_KINDS),
  timestamp: z.iso.datetime(),
  data: eventData,
}) satisfies z.ZodType<OutgoingEvent>;
