#!/usr/bin/env node
import { startCodec } from './codec/server.js';
import { loadCodecConfig } from './config.js';
import { exitOnFailure, refuseArguments, sayReady, untilStopped } from './process.js';

refuseArguments('payment-orders-codec', 'Shows encrypted payloads to the Temporal UI and command line.');

/** The codec endpoint: shows encrypted payloads to the Temporal UI and command line. */
await exitOnFailure(async () => {
  const config = loadCodecConfig();
  const codec = await startCodec(config);
  const stopped = untilStopped(codec.close);
  sayReady(`codec=${codec.url}`, config.allowed);
  await stopped;
});
