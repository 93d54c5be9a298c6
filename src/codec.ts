#!/usr/bin/env node
import { startCodec } from './codec/server.js';
import { loadCodecConfig } from './config.js';
import { exitOnFailure, untilStopped } from './process.js';

/** The codec endpoint: shows encrypted payloads to the Temporal UI and command line. */
await exitOnFailure(async () => {
  const codec = await startCodec(loadCodecConfig());
  const stopped = untilStopped(codec.close);
  process.stdout.write(`ready codec=${codec.url}\n`);
  await stopped;
});
