import { constants, setPriority } from 'node:os';
import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
// Telemetry never takes the processor from the turns themselves; what is not yet taken in waits on disk.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const [{ runService }, { startCollector }] = await Promise.all([
  import('@svc/service-kit/run-service.ts'),
  import('./start-collector.ts'),
]);
await runService('collector', startCollector);
