import { activityInfo } from '@temporalio/activity';
import { isRefused } from '../contract/refused.js';

/** What an attempt before this one left with the server; undefined where none did, or where something without the payload keys wrote it. */
export function lastHeartbeat<T>(): T | undefined {
  const { heartbeatDetails } = activityInfo();
  return isRefused(heartbeatDetails) ? undefined : heartbeatDetails;
}
