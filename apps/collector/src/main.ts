import { constants, setPriority } from 'node:os';
import { runService } from '@svc/service-kit/run-service.ts';
import { startCollector } from './start-collector.ts';

// Telemetry never takes the processor from the turns themselves; what is not yet taken in waits on disk.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
await runService('collector', startCollector);
