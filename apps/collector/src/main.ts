import { constants, setPriority } from 'node:os';
import { runService } from '@svc/service-kit/run-service.ts';
import { startCollector } from './start-collector.ts';

// What is told of turns never takes the processor from the turns themselves; what waits for it waits on disk.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
await runService('collector', startCollector);
