#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { startCodec } from './codec/server.js';
import { loadCodecConfig } from './config.js';
import { exitOnFailure, refuseArguments, sayReady, untilStopped } from './process.js';

refuseArguments('payment-orders-codec', 'Shows encrypted payloads to the Temporal UI and command line.');

// By itself Node lets hundreds of MiB of answered bodies pile up before it frees them.
setFlagsFromString('--optimize-for-size');

/** The codec endpoint: shows encrypted payloads to the Temporal UI and command line. */
await exitOnFailure(async () => {
  const config = loadCodecConfig();
  const codec = await startCodec(config);
  const stopped = untilStopped(codec.close);
  const keys = config.encryptionKeys.map(({ id }) => id).join();
  sayReady(`codec=${codec.url} PAYLOAD_ENCRYPTION_KEYS=${keys} ui=${config.uiOrigin ?? 'none'}`, config.allowed);
  await stopped;
});
