import { constants, setPriority } from 'node:os';
import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
// Telemetry must not take CPU time from turns; events that are not ingested yet wait on disk.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const [{ runService }, { startCollector }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-collector.ts'),
]);
await runService('collector', startCollector);
