import { runService } from '@svc/service-kit/run-service.ts';
import { startManager } from './start-manager.ts';

await runService('manager', startManager);
