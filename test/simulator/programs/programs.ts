import { activityPrograms } from './activity-programs.js';
import type { Program } from './lab.js';
import { resetPrograms } from './reset-programs.js';
import { runPrograms } from './run-programs.js';

/** Programs that the engine and a server must run alike. */
export const programs: readonly Program[] = [...activityPrograms, ...runPrograms, ...resetPrograms];
